// What has no kernel yet is an error at the op, and the module is left as it was.
// RUN: %tile_opt %s --convert-sparse-to-tile -split-input-file -verify-diagnostics

func.func @f(%d: tensor<4x4xf32>) {
  // expected-error@+1 {{is not lowered yet for tensor<4x4xf32, #sparse.coo>}}
  %w = sparse.pack %d : tensor<4x4xf32> -> tensor<4x4xf32, #sparse.coo>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32, #sparse.csr>) {
  // expected-error@+1 {{of sparse tensors is not lowered yet: 'sparse.add'}}
  %b = sparse.add %a, %a : tensor<4x4xf32, #sparse.csr>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32, #sparse.csr>) {
  // expected-error@+1 {{is not lowered yet for tensor<4x4xf32, #sparse.bsr<block = [2, 2]>>}}
  %b = sparse.convert %a : tensor<4x4xf32, #sparse.csr> -> tensor<4x4xf32, #sparse.bsr<block = [2, 2]>>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32, #sparse.csr>, %x: tensor<4xf32>) {
  // expected-error@+1 {{is not lowered yet for tensor<4x4xf32, #sparse.csr> as it stands here, transposed}}
  %b = sparse.spmv %a transpose, %x, %x : tensor<4x4xf32, #sparse.csr>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<4x4xf32, #sparse.csr>, %x: tensor<4xf32>) {
  // expected-error@+1 {{is not lowered yet over mean_mul}}
  %b = sparse.spmv %a, %x, %x over mean_mul : tensor<4x4xf32, #sparse.csr>, tensor<4xf32>, tensor<4xf32>
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
