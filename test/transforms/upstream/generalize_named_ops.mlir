// A schedule that a person writes on a named op stays on the generic op, and every pipeline obeys it; other attributes
// are dropped, as upstream's pass does.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-generalize-named-ops))' | FileCheck %s
// RUN: sed 's/kind = "packed"/kind = "nosuch"/' %s > %t.mlir
// RUN: not %tile_opt %t.mlir --tile-to-cpu-pipeline 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not %tile_opt %t.mlir --tile-to-nvvm-pipeline 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'linalg.generic' op schedule: `kind` "nosuch" is unknown; the kinds are packed,

// CHECK-DAG: #[[SCHEDULE:.*]] = #tile.schedule<kind = "packed", block = [16, 64, 48], register = [8, 16]>
// CHECK-LABEL: func.func @product
// CHECK: linalg.generic
// CHECK-SAME: attrs = {tile.schedule = #[[SCHEDULE]]}
// CHECK: linalg.yield %{{[0-9]+}} : f32
func.func @product(%a: tensor<64x48xf32>, %b: tensor<48x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = linalg.matmul {other = 1, tile.schedule = #tile.schedule<kind = "packed", block = [16, 64, 48], register = [8, 16]>}
      ins(%a, %b : tensor<64x48xf32>, tensor<48x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// Nothing of ours, nothing to keep; softmax has no body and stays.
// CHECK-LABEL: func.func @plain
// CHECK: linalg.generic
// CHECK-NOT: attrs
// CHECK: linalg.softmax
func.func @plain(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = linalg.exp ins(%a : tensor<8x8xf32>) outs(%b : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = linalg.softmax dimension(1) ins(%0 : tensor<8x8xf32>) outs(%b : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
