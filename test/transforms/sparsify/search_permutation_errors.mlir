// RUN: not %tile_opt %s --pass-pipeline='builtin.module(func.func(sparse-search-permutation{n=2 m=4 vector=1,2}))' 2>&1 | FileCheck %s
// CHECK: error: {{.*}}n = 2, m = 4 and 2 neighbours together; an order is searched for 1 <= n, m <= 64 and neighbours by themselves
// RUN: not %tile_opt %s --pass-pipeline='builtin.module(func.func(sparse-search-permutation{n=2 pairs=0}))' 2>&1 | FileCheck %s --check-prefix=PAIRS
// PAIRS: error: {{.*}}pairs = 0, expected at least 1
func.func @f() {
  return
}
