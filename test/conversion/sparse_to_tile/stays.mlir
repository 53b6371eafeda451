// What has no kernel yet is an error at the op, and the module is left as it was.
// RUN: %tile_opt %s --convert-sparse-to-tile -split-input-file -verify-diagnostics

func.func @f(%d: tensor<2x4x4xf32>) {
  // expected-error@+1 {{is not lowered yet for tensor<2x4x4xf32, #sparse.coo>}}
  %w = sparse.pack %d : tensor<2x4x4xf32> -> tensor<2x4x4xf32, #sparse.coo>
  return
}

// -----

func.func @f(%a: tensor<4x4xf8E5M2, #sparse.csr>, %x: tensor<4xf8E5M2>) {
  // expected-error@+1 {{is not lowered yet with init of floats narrower than 16 bits}}
  %b = sparse.spmv %a, %x, %x : tensor<4x4xf8E5M2, #sparse.csr>, tensor<4xf8E5M2>, tensor<4xf8E5M2>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32, #sparse.csr>, %axis: index) -> index {
  // expected-error@+1 {{asks a sparse tensor for the size of a dimension that is not constant}}
  %n = tensor.dim %a, %axis : tensor<4x4xf32, #sparse.csr>
  return %n : index
}

// -----

func.func @f(%a: tensor<4x4xf32, #sparse.csr>) -> tensor<4x4xf32, #sparse.csr> {
  // expected-error@+1 {{of sparse tensors is not lowered yet: 'arith.negf'}}
  %b = arith.negf %a : tensor<4x4xf32, #sparse.csr>
  return %b : tensor<4x4xf32, #sparse.csr>
}
