// Bodies of one launch lie in branches. What they stage in shared memory is made in their branch, so it may lie in the
// same place. A kernel of its own makes it at its beginning.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-to-nvvm-pipeline{chip=sm_80 persistent=always})' --mlir-print-ir-after=tile-stage-in-shared-memory -o /dev/null 2>&1 | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-to-nvvm-pipeline{chip=sm_80})' --mlir-print-ir-after=tile-stage-in-shared-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix=APART
// RUN: %tile_run %s --target=emulate:sm_80 --seed=1 --out=%t.a.npy
// RUN: %tile_run %s --target=emulate:sm_80 --seed=1 --persistent=always --out=%t.b.npy --stats=%t.json
// RUN: cmp %t.a.npy %t.b.npy
// RUN: FileCheck %s --check-prefix=STATS < %t.json
// CHECK: tile.kernel private @program
// CHECK-NOT: tile.alloc
// CHECK: scf.for
// CHECK-NOT: tile.alloc
// CHECK: scf.if
// CHECK: tile.alloc
// CHECK: else
// CHECK: tile.alloc
// APART: tile.kernel private @matmul
// APART-NOT: scf.for
// APART: tile.alloc
// STATS: "launches": 1,
func.func @main(%a: tensor<48x80xf32>, %b: tensor<80x56xf32>, %c: tensor<56x144xf32>) -> tensor<48x144xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<48x56xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<48x56xf32>) -> tensor<48x56xf32>
  %g = tensor.empty() : tensor<48x144xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<48x144xf32>) -> tensor<48x144xf32>
  %p = linalg.matmul ins(%a, %b : tensor<48x80xf32>, tensor<80x56xf32>) outs(%f : tensor<48x56xf32>) -> tensor<48x56xf32>
  %q = linalg.matmul ins(%p, %c : tensor<48x56xf32>, tensor<56x144xf32>) outs(%h : tensor<48x144xf32>) -> tensor<48x144xf32>
  return %q : tensor<48x144xf32>
}
