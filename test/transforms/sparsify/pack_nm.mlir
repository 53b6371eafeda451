// Constants become components; weights that hold too much are refused where they are asked for.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(sparse-pack-nm{n=2 m=4}))' | FileCheck %s

// A window that holds less is filled up at the first free places; what lies beyond the matrix is zero.
// CHECK-LABEL: func.func @packs
// CHECK-DAG: %[[C:.*]] = arith.constant dense<{{\[\[\[}}1, 3], [0, 1]], {{\[\[}}0, 2], [0, 1]]]> : tensor<2x2x2xi8>
// CHECK-DAG: %[[V:.*]] = arith.constant dense<{{\[\[\[\[}}1.000000e+00], [2.000000e+00]], {{\[\[}}0.000000e+00], [0.000000e+00]]], {{\[\[\[}}0.000000e+00], [3.000000e+00]], {{\[\[}}4.000000e+00], [5.000000e+00]]]]> : tensor<2x2x2x1xf16>
// CHECK: sparse.assemble(%[[C]], %[[V]]) : tensor<2x2x2xi8>, tensor<2x2x2x1xf16> -> tensor<2x6xf16, #nm{{[0-9]*}}>
// CHECK-NOT: arith.constant
func.func @packs() -> tensor<2x6xf16, #sparse.nm<n = 2, m = 4>> {
  %d = arith.constant dense<[[0.0, 1.0, -0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0, 4.0, 5.0]]> : tensor<2x6xf16>
  %w = sparse.pack %d : tensor<2x6xf16> -> tensor<2x6xf16, #sparse.nm<n = 2, m = 4>>
  return %w : tensor<2x6xf16, #sparse.nm<n = 2, m = 4>>
}

// Two neighbours of two lines together, along the rows: the vector lies innermost.
// CHECK-LABEL: func.func @blocks
// CHECK-DAG: arith.constant dense<1> : tensor<1x1x1xi16>
// CHECK-DAG: arith.constant dense<{{\[\[\[\[}}1, 2], [3, 4]]]]> : tensor<1x1x2x2xi32>
func.func @blocks() -> tensor<4x2xi32, #sparse.nm<n = 2, m = 4, axis = 0, vector = [2, 2], coordinates = i16>> {
  %d = arith.constant dense<[[0, 0], [0, 0], [1, 2], [3, 4]]> : tensor<4x2xi32>
  %w = sparse.pack %d : tensor<4x2xi32> -> tensor<4x2xi32, #sparse.nm<n = 2, m = 4, axis = 0, vector = [2, 2], coordinates = i16>>
  return %w : tensor<4x2xi32, #sparse.nm<n = 2, m = 4, axis = 0, vector = [2, 2], coordinates = i16>>
}

// With n given, products take packed weights.
// CHECK-LABEL: func.func @product
// CHECK: %[[W:.*]] = sparse.assemble(
// CHECK: sparse.spmm %{{.*}}, %[[W]], %{{.*}} : tensor<3x4xf32>, tensor<4x2xf32, #nm{{[0-9]*}}>, tensor<3x2xf32>
func.func @product(%x: tensor<3x4xf32>, %y: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = arith.constant dense<[[0.0, 1.0], [5.0, 1.0], [3.0, 0.0], [0.0, 0.0]]> : tensor<4x2xf32>
  %r = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x2xf32>) outs(%y : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}

// What is known only when the program runs stays, and so do other formats.
// CHECK-LABEL: func.func @stays
// CHECK: sparse.pack
// CHECK: sparse.pack
func.func @stays(%d: tensor<2x4xf32>) -> (tensor<2x4xf32, #sparse.nm<n = 2, m = 4>>, tensor<2x2xf32, #sparse.csr>) {
  %c = arith.constant dense<1.0> : tensor<2x2xf32>
  %w = sparse.pack %d : tensor<2x4xf32> -> tensor<2x4xf32, #sparse.nm<n = 2, m = 4>>
  %v = sparse.pack %c : tensor<2x2xf32> -> tensor<2x2xf32, #sparse.csr>
  return %w, %v : tensor<2x4xf32, #sparse.nm<n = 2, m = 4>>, tensor<2x2xf32, #sparse.csr>
}

// -----

func.func @splat() -> tensor<2x4xbf16, #sparse.nm<n = 2, m = 4>> {
  %d = arith.constant dense<1.0> : tensor<2x4xbf16>
  // expected-error@+1 {{window 0 of group 0 holds 4 elements that are not zero, expected at most 2 (sparse-prune-nm drops the others)}}
  %w = sparse.pack %d : tensor<2x4xbf16> -> tensor<2x4xbf16, #sparse.nm<n = 2, m = 4>>
  return %w : tensor<2x4xbf16, #sparse.nm<n = 2, m = 4>>
}

// -----

func.func @product(%x: tensor<3x8xf32>, %y: tensor<3x1xf32>) -> tensor<3x1xf32> {
  %w = arith.constant dense<[[0.0], [1.0], [5.0], [0.0], [1.0], [2.0], [3.0], [0.0]]> : tensor<8x1xf32>
  // expected-error@+1 {{window 1 of group 0 holds 3 elements that are not zero, expected at most 2}}
  %r = linalg.matmul ins(%x, %w : tensor<3x8xf32>, tensor<8x1xf32>) outs(%y : tensor<3x1xf32>) -> tensor<3x1xf32>
  return %r : tensor<3x1xf32>
}
