// What is done to constant sparse matrices is done at compile time: test/run/sparse/sparse.test draws them in every format; here
// are what their components look like, sums, entries at one place, and what stays.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(sparse-fold-constants))' | FileCheck %s

// Packed, converted and turned; nobody needs the dense constant any more.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: tensor<3x4xf32>
// CHECK-DAG: %[[P:.*]] = arith.constant dense<[0, 1, 1, 2, 3]> : tensor<5xi64>
// CHECK-DAG: %[[C:.*]] = arith.constant dense<[2, 0, 2]> : tensor<3xi32>
// CHECK-DAG: %[[V:.*]] = arith.constant dense<[3.000000e+00, 1.000000e+00, 4.000000e+00]> : tensor<3xf32>
// CHECK: %[[A:.*]] = sparse.assemble(%[[P]], %[[C]], %[[V]]) : tensor<5xi64>, tensor<3xi32>, tensor<3xf32> -> tensor<4x3xf32, #sparse.csr<positions = i64>>
// CHECK: return %[[A]]
func.func @chain() -> tensor<4x3xf32, #sparse.csr<positions = i64>> {
  %d = arith.constant dense<[[0.0, -0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 4.0]]> : tensor<3x4xf32>
  %a = sparse.pack %d : tensor<3x4xf32> -> tensor<3x4xf32, #sparse.coo>
  %b = sparse.convert %a : tensor<3x4xf32, #sparse.coo> -> tensor<3x4xf32, #sparse.csc>
  %c = sparse.transpose %b : tensor<3x4xf32, #sparse.csc> -> tensor<4x3xf32, #sparse.csr<positions = i64>>
  return %c : tensor<4x3xf32, #sparse.csr<positions = i64>>
}

// Whole blocks, with zeros beyond the matrix; the tiles of a mask.
// CHECK-LABEL: func.func @blocks
// CHECK-DAG: arith.constant dense<[0, 1, 2]> : tensor<3xi32>
// CHECK-DAG: arith.constant dense<[1, 0]> : tensor<2xi32>
// CHECK-DAG: arith.constant dense<{{\[\[\[}}1, 0], [0, 2]], {{\[\[}}3, 0], [0, 0]]]> : tensor<2x2x2xi16>
// CHECK-DAG: arith.constant dense<{{\[\[}}false, true], [true, false]]> : tensor<2x2xi1>
func.func @blocks() -> (tensor<3x4xi16, #sparse.bsr<block = [2, 2]>>, tensor<3x4xi16, #sparse.mask<tile = [2, 2]>>) {
  %d = arith.constant dense<[[0, 0, 1, 0], [0, 0, 0, 2], [3, 0, 0, 0]]> : tensor<3x4xi16>
  %a = sparse.pack %d : tensor<3x4xi16> -> tensor<3x4xi16, #sparse.bsr<block = [2, 2]>>
  %b = sparse.convert %a : tensor<3x4xi16, #sparse.bsr<block = [2, 2]>> -> tensor<3x4xi16, #sparse.mask<tile = [2, 2]>>
  return %a, %b : tensor<3x4xi16, #sparse.bsr<block = [2, 2]>>, tensor<3x4xi16, #sparse.mask<tile = [2, 2]>>
}

// Entries at one place add up, within a part of a sum and among parts, in f16 too; a splat is a constant as any other.
// CHECK-LABEL: func.func @sum
// CHECK: arith.constant dense<{{\[\[}}1.000000e+00, 8.000000e+00], [3.000000e+00, 1.000000e+00]]> : tensor<2x2xf16>
// CHECK-NEXT: return
func.func @sum() -> tensor<2x2xf16> {
  %c = arith.constant dense<[[0, 1, 0], [1, 0, 1]]> : tensor<2x3xi32>
  %v = arith.constant dense<[2.0, 3.0, 5.0]> : tensor<3xf16>
  %m = arith.constant dense<true> : tensor<1x2xi1>
  %w = arith.constant dense<[[1.0, 1.0], [0.0, 1.0]]> : tensor<2x2xf16>
  %a = sparse.assemble(%c, %v, %m, %w) : tensor<2x3xi32>, tensor<3xf16>, tensor<1x2xi1>, tensor<2x2xf16>
      -> tensor<2x2xf16, #sparse.sum<parts = [#sparse.coo<unordered>, #sparse.mask<tile = [2, 1]>]>>
  %d = sparse.unpack %a : tensor<2x2xf16, #sparse.sum<parts = [#sparse.coo<unordered>, #sparse.mask<tile = [2, 1]>]>> -> tensor<2x2xf16>
  return %d : tensor<2x2xf16>
}

// What is known only when the program runs stays, and elements that nothing here reads, other ranks, open sizes.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-3: sparse.pack
// CHECK: sparse.convert
func.func @stays(%d: tensor<2x2xf32>, %v: tensor<1xf32>, %n: index) -> (tensor<2x2xf32, #sparse.csr>, tensor<2xi8, #sparse.coo>, tensor<2x2xi1, #sparse.csr>, tensor<?x2xf32, #sparse.csr>) {
  %i = arith.constant dense<[1, 0]> : tensor<2xi8>
  %b = arith.constant dense<true> : tensor<2x2xi1>
  %c = arith.constant dense<[[0], [1]]> : tensor<2x1xi32>
  %w = arith.constant dense<2.0> : tensor<1xf32>
  %0 = sparse.pack %d : tensor<2x2xf32> -> tensor<2x2xf32, #sparse.csr>
  %1 = sparse.pack %i : tensor<2xi8> -> tensor<2xi8, #sparse.coo>
  %2 = sparse.pack %b : tensor<2x2xi1> -> tensor<2x2xi1, #sparse.csr>
  %a = sparse.assemble(%c, %w) sizes [%n] : tensor<2x1xi32>, tensor<1xf32> -> tensor<?x2xf32, #sparse.coo>
  %3 = sparse.convert %a : tensor<?x2xf32, #sparse.coo> -> tensor<?x2xf32, #sparse.csr>
  return %0, %1, %2, %3 : tensor<2x2xf32, #sparse.csr>, tensor<2xi8, #sparse.coo>, tensor<2x2xi1, #sparse.csr>, tensor<?x2xf32, #sparse.csr>
}

// -----

func.func @twice() -> tensor<2x2xf32, #sparse.csr> {
  %c = arith.constant dense<[[0, 0], [1, 1]]> : tensor<2x2xi32>
  %v = arith.constant dense<1.0> : tensor<2xf32>
  %a = sparse.assemble(%c, %v) : tensor<2x2xi32>, tensor<2xf32> -> tensor<2x2xf32, #sparse.coo<unordered>>
  // expected-error@+1 {{finds two entries at (0, 1)}}
  %b = sparse.convert %a duplicates(error) : tensor<2x2xf32, #sparse.coo<unordered>> -> tensor<2x2xf32, #sparse.csr>
  return %b : tensor<2x2xf32, #sparse.csr>
}

// -----

func.func @full() -> tensor<1x4xf32, #sparse.nm<n = 1, m = 4>> {
  %d = arith.constant dense<[[1.0, 0.0, 2.0, 0.0]]> : tensor<1x4xf32>
  %a = sparse.pack %d : tensor<1x4xf32> -> tensor<1x4xf32, #sparse.csr>
  // expected-error@+1 {{window 0 of group 0 holds 2 elements that are not zero, expected at most 1}}
  %b = sparse.convert %a : tensor<1x4xf32, #sparse.csr> -> tensor<1x4xf32, #sparse.nm<n = 1, m = 4>>
  return %b : tensor<1x4xf32, #sparse.nm<n = 1, m = 4>>
}

// -----

// A product sums up rows of its left factor and columns of its right one: constants that store the others are turned.
// CHECK-LABEL: func.func @factors
// CHECK-DAG: arith.constant dense<[0, 1, 2, 2]> : tensor<4xi32>
// CHECK-DAG: arith.constant dense<[5.000000e+00, 7.000000e+00]> : tensor<2xf32>
// CHECK: %[[W:.*]] = sparse.assemble({{.*}}) : {{.*}} -> tensor<3x2xf32, #sparse.csr>
// CHECK: sparse.spmm %arg0, %[[W]] transpose, %arg1 : tensor<4x2xf32>, tensor<3x2xf32, #sparse.csr>, tensor<4x3xf32>
// CHECK: %[[V:.*]] = sparse.assemble({{.*}}) : {{.*}} -> tensor<3x2xf32, #sparse.csr>
// CHECK: sparse.spmm %[[V]], %arg2, %arg3 over max_mul : tensor<3x2xf32, #sparse.csr>, tensor<2x5xf32>, tensor<3x5xf32>
// CHECK: arith.constant dense<{{\[\[\[}}5.000000e+00], [0.000000e+00]], {{\[\[}}7.000000e+00], [1.000000e+00]]]> : tensor<2x2x1xf32>
// CHECK: sparse.spmm %arg0, %{{.*}} transpose, %arg4 : tensor<4x2xf32>, tensor<4x2xf32, #{{.*}}>, tensor<4x4xf32>
func.func @factors(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>, %z: tensor<2x5xf32>, %u: tensor<3x5xf32>, %o: tensor<4x4xf32>)
    -> (tensor<4x3xf32>, tensor<3x5xf32>, tensor<4x4xf32>) {
  %d = arith.constant dense<[[0.0, 7.0, 0.0], [5.0, 0.0, 0.0]]> : tensor<2x3xf32>
  %w = sparse.pack %d : tensor<2x3xf32> -> tensor<2x3xf32, #sparse.csr>
  %a = sparse.spmm %x, %w, %y : tensor<4x2xf32>, tensor<2x3xf32, #sparse.csr>, tensor<4x3xf32>
  %b = sparse.spmm %w transpose, %z, %u over max_mul : tensor<2x3xf32, #sparse.csr>, tensor<2x5xf32>, tensor<3x5xf32>
  %e = arith.constant dense<[[0.0, 0.0, 7.0, 1.0], [5.0, 0.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %v = sparse.pack %e : tensor<2x4xf32> -> tensor<2x4xf32, #sparse.bsr<block = [1, 2]>>
  %c = sparse.spmm %x, %v, %o : tensor<4x2xf32>, tensor<2x4xf32, #sparse.bsr<block = [1, 2]>>, tensor<4x4xf32>
  return %a, %b, %c : tensor<4x3xf32>, tensor<3x5xf32>, tensor<4x4xf32>
}

// Lines that are those of the product, and factors that are no constants, stay.
// CHECK-LABEL: func.func @factors_stay
// CHECK: sparse.spmm %arg0, %{{.*}}, %arg1 : tensor<4x2xf32>, tensor<2x3xf32, #sparse.csc>, tensor<4x3xf32>
// CHECK: sparse.spmm %arg0, %arg2, %{{.*}} : tensor<4x2xf32>, tensor<2x3xf32, #sparse.csr>, tensor<4x3xf32>
func.func @factors_stay(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>, %s: tensor<2x3xf32, #sparse.csr>) -> tensor<4x3xf32> {
  %d = arith.constant dense<[[0.0, 7.0, 0.0], [5.0, 0.0, 0.0]]> : tensor<2x3xf32>
  %w = sparse.pack %d : tensor<2x3xf32> -> tensor<2x3xf32, #sparse.csc>
  %a = sparse.spmm %x, %w, %y : tensor<4x2xf32>, tensor<2x3xf32, #sparse.csc>, tensor<4x3xf32>
  %b = sparse.spmm %x, %s, %a : tensor<4x2xf32>, tensor<2x3xf32, #sparse.csr>, tensor<4x3xf32>
  return %b : tensor<4x3xf32>
}
