// What products and the ops on entries must not say.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<64x128xf32>, %b: tensor<128x32xf32>, %c: tensor<64x32xf32>) {
  // expected-error@+1 {{neither of lhs and rhs has an encoding, expected exactly one}}
  %r = sparse.spmm %a, %b, %c : tensor<64x128xf32>, tensor<128x32xf32>, tensor<64x32xf32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32, #sparse.csr>, %b: tensor<128x32xf32, #sparse.csc>, %c: tensor<64x32xf32>) {
  // expected-error@+1 {{each of lhs and rhs has an encoding, expected exactly one (two sparse matrices: sparse.spgemm)}}
  %r = sparse.spmm %a, %b, %c : tensor<64x128xf32, #sparse.csr>, tensor<128x32xf32, #sparse.csc>, tensor<64x32xf32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32, #sparse.csr>, %b: tensor<32x128xf32>, %c: tensor<64x32xf32>) {
  %good = sparse.spmm %a, %b transpose, %c : tensor<64x128xf32, #sparse.csr>, tensor<32x128xf32>, tensor<64x32xf32>
  // expected-error@+1 {{rhs has size 32 along axis 0, expected 128 as lhs along axis 1}}
  %r = sparse.spmm %a, %b, %c : tensor<64x128xf32, #sparse.csr>, tensor<32x128xf32>, tensor<64x32xf32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32, #sparse.csr>, %b: tensor<64x32xf32>, %c: tensor<64x32xf32>) {
  // expected-error@+1 {{init has size 64 along axis 0, expected 128 as lhs along axis 0 (transposed)}}
  %r = sparse.spmm %a transpose, %b, %c : tensor<64x128xf32, #sparse.csr>, tensor<64x32xf32>, tensor<64x32xf32>
  return
}

// -----

func.func @f(%a: tensor<?x128xf16, #sparse.csr>, %b: tensor<128x?xf16>, %wide: tensor<?x32xf32>, %c: tensor<?x32xi32>) {
  %good = sparse.spmm %a, %b, %wide : tensor<?x128xf16, #sparse.csr>, tensor<128x?xf16>, tensor<?x32xf32>
  // expected-error@+1 {{init has elements i32, expected those of the factors, f16, or wider ones of their kind}}
  %r = sparse.spmm %a, %b, %c : tensor<?x128xf16, #sparse.csr>, tensor<128x?xf16>, tensor<?x32xi32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32, #sparse.csr>, %x: tensor<128xf16>, %y: tensor<64xf32>) {
  // expected-error@+1 {{expected equal element types}}
  %r = sparse.spmv %a, %x, %y : tensor<64x128xf32, #sparse.csr>, tensor<128xf16>, tensor<64xf32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32, #sparse.csr>, %x: tensor<128x1xf32>, %y: tensor<64xf32>) {
  // expected-error@+1 {{vector has rank 2, expected 1}}
  %r = sparse.spmv %a, %x, %y : tensor<64x128xf32, #sparse.csr>, tensor<128x1xf32>, tensor<64xf32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32, #sparse.csr>, %x: tensor<128xf32>, %y: tensor<64xf32>) {
  // expected-error@+1 {{is over or_and with elements f32, expected integers}}
  %r = sparse.spmv %a, %x, %y over or_and : tensor<64x128xf32, #sparse.csr>, tensor<128xf32>, tensor<64xf32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32, #sparse.csr>, %x: tensor<128xf32>, %y: tensor<64xf32>) {
  // expected-error@+1 {{expected one of add_mul, max_plus, min_plus, or_and, max_mul, min_mul, mean_mul}}
  %r = sparse.spmv %a, %x, %y over plus_times : tensor<64x128xf32, #sparse.csr>, tensor<128xf32>, tensor<64xf32>
  return
}

// -----

func.func @f(%q: tensor<64x32xf32>, %k: tensor<96x32xf32>, %p: tensor<64x97xf32, #sparse.csr>) {
  // expected-error@+1 {{pattern has size 97 along axis 1, expected 96 as rhs along axis 1 (transposed)}}
  %s = sparse.sddmm %q, %k transpose, %p : tensor<64x32xf32>, tensor<96x32xf32>, tensor<64x97xf32, #sparse.csr>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32, #sparse.nm<n = 2, m = 4>>) {
  // expected-error@+1 {{joins the entries of a format, whose number of entries is fixed}}
  %b = sparse.add %a, %a : tensor<4x4xf32, #sparse.nm<n = 2, m = 4>>
  return
}

// -----

#both = #sparse.sum<parts = [#sparse.bsr<block = [2, 2]>, #sparse.csr]>
func.func @f(%a: tensor<4x4xf32, #both>) {
  // expected-error@+1 {{intersects the entries of a format that has parts, and does not say which part takes an entry}}
  %b = sparse.mul %a, %a : tensor<4x4xf32, #both>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32, #sparse.csr>) {
  // expected-error@+1 {{its region has 2 arguments, expected 3: the value, then its place}}
  %b = sparse.map %a : tensor<4x4xf32, #sparse.csr> {
  ^bb0(%v: f32, %i: index):
    sparse.yield %v : f32
  }
  return
}

// -----

func.func @f(%a: tensor<4x4xf32, #sparse.csr>) {
  // expected-error@+1 {{argument #1 of its region is i32, expected index}}
  %b = sparse.map %a : tensor<4x4xf32, #sparse.csr> {
  ^bb0(%v: f32, %i: i32, %j: index):
    sparse.yield %v : f32
  }
  return
}

// -----

func.func @f(%a: tensor<4x4xf32, #sparse.csr>) {
  // expected-error@+1 {{its region does not end with a sparse.yield of one i1}}
  %b = sparse.select %a : tensor<4x4xf32, #sparse.csr> {
  ^bb0(%v: f32, %i: index, %j: index):
    sparse.yield %v : f32
  }
  return
}

// -----

func.func @f(%a: tensor<4x8xf32, #sparse.csr>, %init: tensor<4xf32>) {
  // expected-error@+1 {{init has size 4 along axis 0, expected 8 as input along axis 1}}
  %r = sparse.reduce add %a along 0, %init : tensor<4x8xf32, #sparse.csr>, tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x8xf32, #sparse.csr>, %init: tensor<4xf32>) {
  // expected-error@+1 {{axis is 2, expected 0 to 1}}
  %r = sparse.reduce add %a along 2, %init : tensor<4x8xf32, #sparse.csr>, tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x8xf32, #sparse.csr>) {
  // expected-error@+1 {{axis is 2, expected 0 to 1}}
  %r = sparse.softmax %a along 2 : tensor<4x8xf32, #sparse.csr>
  return
}

// -----

func.func @f(%a: tensor<4x8xi32, #sparse.csr>) {
  // expected-error@+1 {{input has elements i32, expected floats}}
  %r = sparse.softmax %a along 1 : tensor<4x8xi32, #sparse.csr>
  return
}

// -----

func.func @f(%a: tensor<4x8xf32, #sparse.sum<parts = [#sparse.csr, #sparse.coo]>>) {
  // expected-error@+1 {{whose lines have entries in several parts; convert it to a format of one part}}
  %r = sparse.softmax %a along 1 : tensor<4x8xf32, #sparse.sum<parts = [#sparse.csr, #sparse.coo]>>
  return
}

// -----

func.func @f(%a: tensor<4x8x2xf32, #sparse.coo>) {
  // expected-error@+1 {{input has rank 3, expected 2}}
  %r = sparse.softmax %a along 1 : tensor<4x8x2xf32, #sparse.coo>
  return
}
