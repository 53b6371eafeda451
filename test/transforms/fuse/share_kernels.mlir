// Equal ops become launches of one kernel; an op of another shape has its own.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),convert-linalg-to-tile,tile-share-kernels)' --tile-pass-statistics 2>%t.count | FileCheck %s
// RUN: FileCheck %s --check-prefix=COUNT < %t.count
// COUNT: 2 shared
// CHECK: func.func @main
// CHECK: tile.launch @[[ONE:[a-z0-9_]+]] grid
// CHECK: tile.launch @[[ONE]] grid
// CHECK: tile.launch @[[ONE]] grid
// CHECK-NOT: @[[ONE]] grid
// CHECK: tile.launch
// CHECK-COUNT-2: tile.kernel private
// CHECK-NOT: tile.kernel
func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.matmul ins(%0, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = linalg.matmul ins(%1, %0 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e3 = tensor.empty() : tensor<64x32xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %3 = linalg.matmul ins(%2, %b : tensor<64x64xf32>, tensor<64x32xf32>) outs(%z3 : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %3 : tensor<64x32xf32>
}
