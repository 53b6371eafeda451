// Where a tensor is put into another one, it is computed there. A function without such an op stays as it is.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-eliminate-empty-tensors))' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-eliminate-empty-tensors))' -o %t.ours.mlir
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(eliminate-empty-tensors))' -o %t.theirs.mlir
// RUN: cmp %t.ours.mlir %t.theirs.mlir

// CHECK-LABEL: @inserted
// CHECK-NOT: tensor.empty
// CHECK: tensor.extract_slice
// CHECK: linalg.fill
func.func @inserted(%to: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %r = tensor.insert_slice %f into %to[2, 0] [3, 4] [1, 1] : tensor<3x4xf32> into tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
// CHECK-LABEL: @copied
func.func @copied(%to: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %r = linalg.copy ins(%f : tensor<3x4xf32>) outs(%to : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
// CHECK-LABEL: @apart
// CHECK: tensor.empty
func.func @apart(%a: tensor<3x5xf32>, %b: tensor<5x4xf32>) -> tensor<3x4xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %r = linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x4xf32>) outs(%f : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
