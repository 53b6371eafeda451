// The n places of the highest score stay; the product is a sparse one.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(sparse-prune-nm{n=2 m=4}))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(func.func(sparse-prune-nm{n=2 m=4}))' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(sparse-prune-nm{n=2 m=4 vector=2,1 score=l2}))' | FileCheck %s --check-prefix=VECTOR
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(sparse-prune-nm{n=2 m=4 vector=1,2}))' | FileCheck %s --check-prefix=BLOCK

// Windows run down the columns of weights on the right. Of equal ones the first stay (second column).
// CHECK-DAG: #nm = #sparse.nm<n = 2, m = 4, axis = 0>
// CHECK-DAG: #nm1 = #sparse.nm<n = 2, m = 4>
// VECTOR-DAG: #sparse.nm<n = 2, m = 4, axis = 0, vector = [1, 2]>
// BLOCK-DAG: #sparse.nm<n = 2, m = 4, axis = 0, vector = [2, 1]>
// CHECK-LABEL: func.func @right
// CHECK: %[[C:.*]] = arith.constant dense<{{\[\[}}0.000000e+00, 1.000000e+00], [-5.000000e+00, -1.000000e+00], [3.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00]]> : tensor<4x2xf32>
// CHECK: %[[W:.*]] = sparse.pack %[[C]] : tensor<4x2xf32> -> tensor<4x2xf32, #nm{{[0-9]*}}>
// CHECK: sparse.spmm %{{.*}}, %[[W]], %{{.*}} : tensor<3x4xf32>
// CHECK-NOT: arith.constant
// Both columns keep the same rows: squares 4+1, 25+1, 9+1, 1+1.
// VECTOR-LABEL: func.func @right
// VECTOR: dense<{{\[\[}}0.000000e+00, 0.000000e+00], [-5.000000e+00, -1.000000e+00], [3.000000e+00, 1.000000e+00], [0.000000e+00, 0.000000e+00]]>
// VECTOR: sparse.pack
// Neighbours along the column: 2+5 against 3+1, 1+1 against 1+1.
// BLOCK-LABEL: func.func @right
// BLOCK: dense<{{\[\[}}-2.000000e+00, 1.000000e+00], [-5.000000e+00, -1.000000e+00], [0.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00]]>
// BLOCK: sparse.pack
func.func @right(%x: tensor<3x4xf32>, %y: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = arith.constant dense<[[-2.0, 1.0], [-5.0, -1.0], [3.0, 1.0], [1.0, 1.0]]> : tensor<4x2xf32>
  %r = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x2xf32>) outs(%y : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// On the left along the rows; a window that the matrix cuts off keeps all it has. A splat is a matrix like others.
// CHECK-LABEL: func.func @left
// CHECK: dense<{{\[\[}}1, 1, 0, 0, 1], [1, 1, 0, 0, 1]]> : tensor<2x5xi8>
// CHECK: sparse.spmm %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x5xi8, #nm{{[0-9]*}}>, tensor<5x3xi8>, tensor<2x3xi32>
func.func @left(%x: tensor<5x3xi8>, %y: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %w = arith.constant dense<1> : tensor<2x5xi8>
  %r = linalg.matmul ins(%w, %x : tensor<2x5xi8>, tensor<5x3xi8>) outs(%y : tensor<2x3xi32>) -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}

// x · Wᵀ with the result transposed is W · xᵀ; a nan stays.
// CHECK-LABEL: func.func @turned
// CHECK: dense<{{\[\[}}0.000000e+00, 0.000000e+00, 5.000000e-01, 0x7E00]]> : tensor<1x4xf16>
// CHECK: sparse.spmm %{{.*}}, %{{.*}} transpose, %{{.*}} : tensor<1x4xf16, #nm{{[0-9]*}}>, tensor<3x4xf16>, tensor<1x3xf16>
func.func @turned(%x: tensor<3x4xf16>, %y: tensor<1x3xf16>) -> tensor<1x3xf16> {
  %w = arith.constant dense<[[0.25, -0.25, 0.5, 0x7E00]]> : tensor<1x4xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (j, i)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<3x4xf16>, tensor<1x4xf16>) outs(%y : tensor<1x3xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %p = arith.mulf %a, %b : f16
    %s = arith.addf %p, %c : f16
    linalg.yield %s : f16
  } -> tensor<1x3xf16>
  return %r : tensor<1x3xf16>
}

// CHECK-LABEL: func.func @vector
// CHECK: sparse.spmv %{{.*}} transpose, %{{.*}}, %{{.*}} : tensor<4x1xf64, #nm{{[0-9]*}}>, tensor<4xf64>, tensor<1xf64>
func.func @vector(%x: tensor<4xf64>, %y: tensor<1xf64>) -> tensor<1xf64> {
  %w = arith.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf64>
  %r = linalg.vecmat ins(%x, %w : tensor<4xf64>, tensor<4x1xf64>) outs(%y : tensor<1xf64>) -> tensor<1xf64>
  return %r : tensor<1xf64>
}

// Weights that come when the program runs, products in batches and other reductions stay.
// CHECK-LABEL: func.func @others
// CHECK-NOT: sparse
// CHECK: linalg.matmul
// CHECK: linalg.batch_matmul
// CHECK: linalg.generic
func.func @others(%x: tensor<3x4xf32>, %w: tensor<4x2xf32>, %y: tensor<3x2xf32>, %b: tensor<1x3x4xf32>, %z: tensor<1x3x2xf32>)
    -> (tensor<3x2xf32>, tensor<1x3x2xf32>, tensor<3x2xf32>) {
  %c = arith.constant dense<1.0> : tensor<1x4x2xf32>
  %d = arith.constant dense<1.0> : tensor<4x2xf32>
  %r = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x2xf32>) outs(%y : tensor<3x2xf32>) -> tensor<3x2xf32>
  %s = linalg.batch_matmul ins(%b, %c : tensor<1x3x4xf32>, tensor<1x4x2xf32>) outs(%z : tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %d : tensor<3x4xf32>, tensor<4x2xf32>) outs(%y : tensor<3x2xf32>) {
  ^bb0(%a: f32, %e: f32, %f: f32):
    %p = arith.addf %a, %e : f32
    %m = arith.maximumf %p, %f : f32
    linalg.yield %m : f32
  } -> tensor<3x2xf32>
  return %r, %s, %t : tensor<3x2xf32>, tensor<1x3x2xf32>, tensor<3x2xf32>
}
