// What the ops that store, convert, put together and take apart must not say; constants must keep a format's rules.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

func.func @f(%d: tensor<64x128xf32>) {
  // expected-error@+1 {{result is tensor<64x64xf32>, expected the input's shape and elements, tensor<64x128xf32>}}
  %w = sparse.pack %d : tensor<64x128xf32> -> tensor<64x64xf32, #sparse.csr>
  return
}

// -----

func.func @f(%d: tensor<64x128xf32>) {
  // expected-error@+1 {{result is a #sparse.sum, which does not say which part takes an entry}}
  %w = sparse.pack %d : tensor<64x128xf32>
      -> tensor<64x128xf32, #sparse.sum<parts = [#sparse.bsr<block = [8, 8]>, #sparse.csr]>>
  return
}

// -----

// Row 1 holds three elements in its second window of four; -0.0 is one that is zero.
func.func @f() {
  %d = arith.constant dense<[[1.0, 0.0, 2.0, 0.0, 0.0], [0.0, 1.0, -0.0, 3.0, 4.0], [0.0, 5.0, 6.0, 7.0, 0.0]]> : tensor<3x5xf32>
  %good = sparse.pack %d : tensor<3x5xf32> -> tensor<3x5xf32, #sparse.nm<n = 3, m = 4>>
  // expected-error@+1 {{window 0 of group 2 holds 3 elements that are not zero, expected at most 2}}
  %w = sparse.pack %d : tensor<3x5xf32> -> tensor<3x5xf32, #sparse.nm<n = 2, m = 4>>
  return
}

// -----

// Two lines share a window along axis 0; the last group is one line.
func.func @f() {
  %d = arith.constant dense<[[1, 0, 0], [0, 2, 0], [0, 0, 0], [0, 0, 3]]> : tensor<4x3xi32>
  // expected-error@+1 {{window 0 of group 0 holds 2 elements that are not zero, expected at most 1}}
  %w = sparse.pack %d : tensor<4x3xi32> -> tensor<4x3xi32, #sparse.nm<n = 1, m = 2, axis = 0, vector = [1, 2]>>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32, #sparse.csr>) {
  // expected-error@+1 {{says what becomes of duplicates, but tensor<4x4xf32, #sparse.csr> has none}}
  %b = sparse.convert %a duplicates(sum) : tensor<4x4xf32, #sparse.csr> -> tensor<4x4xf32, #sparse.csc>
  return
}

// -----

func.func @f(%p: tensor<5xi32>, %c: tensor<?xi32>) {
  // expected-error@+1 {{has 2 components, expected 3 of tensor<4x4xf32, #sparse.csr>}}
  %a = sparse.assemble(%p, %c) : tensor<5xi32>, tensor<?xi32> -> tensor<4x4xf32, #sparse.csr>
  return
}

// -----

func.func @f(%p: tensor<4xi32>, %c: tensor<?xi32>, %v: tensor<?xf32>) {
  // expected-error@+1 {{component #0 (positions) is tensor<4xi32>, expected tensor<5xi32>}}
  %a = sparse.assemble(%p, %c, %v) : tensor<4xi32>, tensor<?xi32>, tensor<?xf32> -> tensor<4x4xf32, #sparse.csr>
  return
}

// -----

func.func @f(%p: tensor<5xi32>, %c: tensor<3xi32>, %v: tensor<2xf32>) {
  // expected-error@+1 {{has 3 coordinates, expected one per value: 2}}
  %a = sparse.assemble(%p, %c, %v) : tensor<5xi32>, tensor<3xi32>, tensor<2xf32> -> tensor<4x4xf32, #sparse.csr>
  return
}

// -----

func.func @f(%p: tensor<?xi32>, %c: tensor<?xi32>, %v: tensor<?xf32>) {
  // expected-error@+1 {{has 0 sizes, expected one per dynamic size of the result: 1}}
  %a = sparse.assemble(%p, %c, %v) : tensor<?xi32>, tensor<?xi32>, tensor<?xf32> -> tensor<?x4xf32, #sparse.csr>
  return
}

// -----

func.func @f(%v: tensor<3xf32>) {
  %p = arith.constant dense<[0, 2, 1, 3]> : tensor<4xi32>
  %c = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  // expected-error@+1 {{position 2 is 1, less than the one before it, 2}}
  %a = sparse.assemble(%p, %c, %v) : tensor<4xi32>, tensor<3xi32>, tensor<3xf32> -> tensor<3x4xf32, #sparse.csr>
  return
}

// -----

func.func @f(%v: tensor<3xf32>) {
  %p = arith.constant dense<[0, 1, 1, 2]> : tensor<4xi32>
  %c = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  // expected-error@+1 {{positions end with 2, expected the number of entries, 3}}
  %a = sparse.assemble(%p, %c, %v) : tensor<4xi32>, tensor<3xi32>, tensor<3xf32> -> tensor<3x4xf32, #sparse.csr>
  return
}

// -----

func.func @f(%v: tensor<3xf32>, %p: tensor<4xi32>) {
  %c = arith.constant dense<[0, 4, 2]> : tensor<3xi32>
  // expected-error@+1 {{coordinate 1 is 4, expected 0 to 3}}
  %a = sparse.assemble(%p, %c, %v) : tensor<4xi32>, tensor<3xi32>, tensor<3xf32> -> tensor<3x4xf32, #sparse.csr>
  return
}

// -----

func.func @f(%v: tensor<3xf32>) {
  %p = arith.constant dense<[0, 1, 3, 3]> : tensor<4xi64>
  %c = arith.constant dense<[3, 2, 1]> : tensor<3xi32>
  // expected-error@+1 {{coordinate 2 is 1, not above the one before it in segment 1, 2}}
  %a = sparse.assemble(%p, %c, %v) : tensor<4xi64>, tensor<3xi32>, tensor<3xf32>
      -> tensor<3x4xf32, #sparse.csr<positions = i64>>
  return
}

// -----

// Of bsr coordinates count blocks, of csc rows.
func.func @f(%v: tensor<1x2x2xf32>, %w: tensor<1xf32>) {
  %p = arith.constant dense<[0, 1, 1]> : tensor<3xi32>
  %q = arith.constant dense<[0, 1, 1, 1, 1, 1]> : tensor<6xi32>
  %c = arith.constant dense<2> : tensor<1xi32>
  %good = sparse.assemble(%p, %c, %v) : tensor<3xi32>, tensor<1xi32>, tensor<1x2x2xf32>
      -> tensor<3x5xf32, #sparse.bsr<block = [2, 2]>>
  %same = sparse.assemble(%q, %c, %w) : tensor<6xi32>, tensor<1xi32>, tensor<1xf32> -> tensor<3x5xf32, #sparse.csc>
  // expected-error@+1 {{coordinate 0 is 2, expected 0 to 1}}
  %a = sparse.assemble(%p, %c, %v) : tensor<3xi32>, tensor<1xi32>, tensor<1x2x2xf32>
      -> tensor<3x4xf32, #sparse.bsr<block = [2, 2]>>
  return
}

// -----

func.func @f(%v: tensor<3xf32>) {
  %c = arith.constant dense<[[0, 1, 1], [3, 2, 2]]> : tensor<2x3xi32>
  %good = sparse.assemble(%c, %v) : tensor<2x3xi32>, tensor<3xf32> -> tensor<3x4xf32, #sparse.coo<unordered>>
  // expected-error@+1 {{entry 2 of #sparse.coo stands not after the one before it in row-major order}}
  %a = sparse.assemble(%c, %v) : tensor<2x3xi32>, tensor<3xf32> -> tensor<3x4xf32, #sparse.coo>
  return
}

// -----

func.func @f(%v: tensor<2x1x2x1xf32>) {
  %c = arith.constant dense<[[[0, 3]], [[2, 2]]]> : tensor<2x1x2xi8>
  // expected-error@+1 {{coordinate 3 is 2, not above the one before it in window 1, 2}}
  %a = sparse.assemble(%c, %v) : tensor<2x1x2xi8>, tensor<2x1x2x1xf32> -> tensor<2x4xf32, #sparse.nm<n = 2, m = 4>>
  return
}

// -----

// The second part of a sum is looked at as well.
func.func @f(%bp: tensor<2xi32>, %bc: tensor<?xi32>, %bv: tensor<?x4x4xf32>, %v: tensor<1xf32>) {
  %p = arith.constant dense<[0, 1, 1, 1, 1]> : tensor<5xi32>
  %c = arith.constant dense<7> : tensor<1xi32>
  // expected-error@+1 {{coordinate 0 is 7, expected 0 to 3}}
  %a = sparse.assemble(%bp, %bc, %bv, %p, %c, %v)
      : tensor<2xi32>, tensor<?xi32>, tensor<?x4x4xf32>, tensor<5xi32>, tensor<1xi32>, tensor<1xf32>
      -> tensor<4x4xf32, #sparse.sum<parts = [#sparse.bsr<block = [4, 4]>, #sparse.csr]>>
  return
}

// -----

func.func @f(%a: tensor<4x8xf32, #sparse.csr>) {
  // expected-error@+1 {{result is tensor<4x8xf32>, expected the input's axes swapped, tensor<8x4xf32>}}
  %t = sparse.transpose %a : tensor<4x8xf32, #sparse.csr> -> tensor<4x8xf32, #sparse.csc>
  return
}
