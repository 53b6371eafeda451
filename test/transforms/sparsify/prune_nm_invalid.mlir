// Options that make no windows are errors.
// RUN: split-file %s %t
// RUN: not %tile_opt %t/f.mlir --pass-pipeline='builtin.module(func.func(sparse-prune-nm{n=5 m=4}))' 2>&1 | FileCheck %s --check-prefix=MORE
// RUN: not %tile_opt %t/f.mlir --pass-pipeline='builtin.module(func.func(sparse-prune-nm))' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not %tile_opt %t/f.mlir --pass-pipeline='builtin.module(func.func(sparse-prune-nm{n=1 vector=1,3}))' 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: not %tile_opt %t/f.mlir --pass-pipeline='builtin.module(func.func(sparse-prune-nm{n=1 vector=2}))' 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: not %tile_opt %t/f.mlir --pass-pipeline='builtin.module(func.func(sparse-prune-nm{n=1 score=l3}))' 2>&1 | FileCheck %s --check-prefix=SCORE
// MORE: f.mlir:1:1: error: 'func.func' op n = 5 and m = 4, expected 0 <= n <= m
// NONE: sparse-prune-nm without n
// VECTOR: vector keeps 3 neighbours together, which does not divide both n = 1 and m = 4
// SIZES: vector has 1 sizes, expected two
// SCORE: score is 'l3', expected l1 or l2

//--- f.mlir
func.func @f() { return }
