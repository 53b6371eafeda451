// What is cut out of constants and of the ops between them, and what stays whole. shrink.test runs drawn networks.
// RUN: %tile_opt %s --split-input-file --sparse-shrink-tensors=sparsity=finite | FileCheck %s
// RUN: %tile_opt %s --split-input-file --sparse-shrink-tensors=sparsity=off | FileCheck %s --check-prefix=OFF
// RUN: not %tile_opt %s --split-input-file --sparse-shrink-tensors=sparsity=some 2>&1 | FileCheck %s --check-prefix=SOME
// SOME: sparsity is 'some'; exact, finite and off are accepted

// Row 1 of %v and column 2 of %w are zero: neurons 1 and 2 go. The bias loses both too.
// CHECK-LABEL: func.func @neurons
// CHECK-DAG: arith.constant dense<{{\[\[}}1.000000e+00, 4.000000e+00], [5.000000e+00, 7.000000e+00]]> : tensor<2x2xf32>
// CHECK-DAG: arith.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-DAG: arith.constant dense<{{\[\[}}1.000000e+00], [4.000000e+00]]> : tensor<2x1xf32>
// CHECK: linalg.matmul ins({{.*}} : tensor<3x2xf32>, tensor<2x2xf32>)
// CHECK: return {{.*}} : tensor<3x1xf32>
// OFF-LABEL: func.func @neurons
// OFF: linalg.matmul ins({{.*}} : tensor<3x2xf32>, tensor<2x4xf32>)
func.func @neurons(%x: tensor<3x2xf32>) -> tensor<3x1xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 0.0, 4.0], [5.0, 6.0, 0.0, 7.0]]> : tensor<2x4xf32>
  %b = arith.constant dense<[0.0, 9.0, 0.0, 0.0]> : tensor<4xf32>
  %v = arith.constant dense<[[1.0], [0.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<3x2xf32>, tensor<2x4xf32>) outs(%f : tensor<3x4xf32>) -> tensor<3x4xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<3x4xf32>, tensor<4xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<3x4xf32>
  %g = tensor.empty() : tensor<3x1xf32>
  %k = linalg.fill ins(%zero : f32) outs(%g : tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = linalg.matmul ins(%h, %v : tensor<3x4xf32>, tensor<4x1xf32>) outs(%k : tensor<3x1xf32>) -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}

// -----

// A zero is the maximum of negative numbers, and what is returned stays whole: nothing goes.
// CHECK-LABEL: func.func @maximum
// CHECK: linalg.matmul ins({{.*}} : tensor<3x2xf32>, tensor<2x3xf32>)
// CHECK-LABEL: func.func @returned
// CHECK: linalg.matmul ins({{.*}} : tensor<3x2xf32>, tensor<2x3xf32>)
func.func @maximum(%x: tensor<3x2xf32>, %i: tensor<3x3xf32>, %m: tensor<3xf32>) -> tensor<3xf32> {
  %w = arith.constant dense<[[1.0, 0.0, 3.0], [4.0, 0.0, 6.0]]> : tensor<2x3xf32>
  %p = linalg.matmul ins(%x, %w : tensor<3x2xf32>, tensor<2x3xf32>) outs(%i : tensor<3x3xf32>) -> tensor<3x3xf32>
  %r = linalg.reduce { arith.maximumf } ins(%p : tensor<3x3xf32>) outs(%m : tensor<3xf32>) dimensions = [1]
  return %r : tensor<3xf32>
}
func.func @returned(%x: tensor<3x2xf32>, %i: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %w = arith.constant dense<[[1.0, 0.0, 3.0], [4.0, 0.0, 6.0]]> : tensor<2x3xf32>
  %p = linalg.matmul ins(%x, %w : tensor<3x2xf32>, tensor<2x3xf32>) outs(%i : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %p : tensor<3x3xf32>
}

// -----

// Sums start from a bias, none of which is -0: rows of %v that meet zeros go. With -0 among them a sum could be -0.
// CHECK-LABEL: func.func @from_bias
// CHECK: linalg.matmul ins({{.*}} : tensor<3x2xf32>, tensor<2x2xf32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<3x2xf32>, tensor<2x2xf32>)
// CHECK-LABEL: func.func @from_minus_zero
// CHECK: linalg.matmul ins({{.*}} : tensor<3x3xf32>, tensor<3x2xf32>)
func.func @from_bias(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = arith.constant dense<[[1.0, 0.0, 3.0], [4.0, 0.0, 6.0]]> : tensor<2x3xf32>
  %b = arith.constant dense<[7.0, 0.0, 8.0]> : tensor<3xf32>
  %v = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %c = arith.constant dense<[0.0, -1.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<3x3xf32>
  %i = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<3x3xf32>) dimensions = [0]
  %h = linalg.matmul ins(%x, %w : tensor<3x2xf32>, tensor<2x3xf32>) outs(%i : tensor<3x3xf32>) -> tensor<3x3xf32>
  %g = tensor.empty() : tensor<3x2xf32>
  %j = linalg.broadcast ins(%c : tensor<2xf32>) outs(%g : tensor<3x2xf32>) dimensions = [0]
  %y = linalg.matmul ins(%h, %v : tensor<3x3xf32>, tensor<3x2xf32>) outs(%j : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
func.func @from_minus_zero(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = arith.constant dense<[[1.0, 0.0, 3.0], [4.0, 0.0, 6.0]]> : tensor<2x3xf32>
  %z = arith.constant 0.0 : f32
  %v = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %c = arith.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<3x3xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %h = linalg.matmul ins(%x, %w : tensor<3x2xf32>, tensor<2x3xf32>) outs(%i : tensor<3x3xf32>) -> tensor<3x3xf32>
  %g = tensor.empty() : tensor<3x2xf32>
  %j = linalg.broadcast ins(%c : tensor<2xf32>) outs(%g : tensor<3x2xf32>) dimensions = [0]
  %y = linalg.matmul ins(%h, %v : tensor<3x3xf32>, tensor<3x2xf32>) outs(%j : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
