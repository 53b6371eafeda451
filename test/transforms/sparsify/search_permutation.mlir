// Inputs of a product in the order that keeps most; what makes them follows. The figures: search_permutation.test.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(sparse-search-permutation{n=1 m=2}))' --split-input-file | FileCheck %s

// 9 and 8 share a window, and 1 and 2: one of each pair goes. Inputs 0 and 2 change places, with the columns of the first
// weights and the bias.
// CHECK-LABEL: func.func @layers
// CHECK-DAG: arith.constant dense<{{\[\[}}3.000000e+00, 2.000000e+00, 1.000000e+00, 4.000000e+00]]> : tensor<1x4xf32>
// CHECK-DAG: arith.constant dense<[3.000000e-01, 2.000000e-01, 1.000000e-01, 4.000000e-01]> : tensor<4xf32>
// CHECK-DAG: arith.constant dense<{{\[\[}}1.000000e+00], [8.000000e+00], [9.000000e+00], [2.000000e+00]]> : tensor<4x1xf32>
func.func @layers(%x: tensor<2x1xf32>) -> tensor<2x1xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
  %b = arith.constant dense<[0.1, 0.2, 0.3, 0.4]> : tensor<4xf32>
  %v = arith.constant dense<[[9.0], [8.0], [1.0], [2.0]]> : tensor<4x1xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %s = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<2x4xf32>) dimensions = [0]
  %h = linalg.matmul ins(%x, %w : tensor<2x1xf32>, tensor<1x4xf32>) outs(%s : tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = linalg.abs ins(%h : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %f = tensor.empty() : tensor<2x1xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<2x1xf32>) -> tensor<2x1xf32>
  %y = linalg.matmul ins(%r, %v : tensor<2x4xf32>, tensor<4x1xf32>) outs(%z : tensor<2x1xf32>) -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

// -----

// An argument, and inputs that are returned too, stay as they are.
// CHECK-LABEL: func.func @tied
// CHECK-DAG: dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]]>
// CHECK-DAG: dense<{{\[\[}}9.000000e+00], [8.000000e+00], [1.000000e+00], [2.000000e+00]]>
func.func @tied(%x: tensor<2x1xf32>, %a: tensor<2x4xf32>, %c: tensor<2x4xf32>, %d: tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<2x4xf32>) {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
  %v = arith.constant dense<[[9.0], [8.0], [1.0], [2.0]]> : tensor<4x1xf32>
  %h = linalg.matmul ins(%x, %w : tensor<2x1xf32>, tensor<1x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = linalg.matmul ins(%h, %v : tensor<2x4xf32>, tensor<4x1xf32>) outs(%d : tensor<2x1xf32>) -> tensor<2x1xf32>
  %z = linalg.matmul ins(%a, %v : tensor<2x4xf32>, tensor<4x1xf32>) outs(%y : tensor<2x1xf32>) -> tensor<2x1xf32>
  return %z, %h : tensor<2x1xf32>, tensor<2x4xf32>
}
