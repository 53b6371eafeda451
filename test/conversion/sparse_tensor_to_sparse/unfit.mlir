// What upstream's sparsifier crashes at, or never ends on, is an error at the op.
// RUN: %tile_opt %s --split-input-file --convert-sparse-tensor-to-sparse -verify-diagnostics

#DCSR = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
// expected-remark @+1 {{left to upstream's sparsifier}}
func.func @expand(%tensor: tensor<8x8xf64, #DCSR>) -> index {
  // expected-error @+1 {{upstream's sparsifier crashes at this op; a linalg op on the tensor is accepted}}
  %values, %filled, %added, %count = sparse_tensor.expand %tensor
    : tensor<8x8xf64, #DCSR> to memref<?xf64>, memref<?xi1>, memref<?xindex>
  return %count : index
}

// -----

#DCSR = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
// expected-remark @+1 {{left to upstream's sparsifier}}
func.func @foreach(%a: tensor<2x4xf64, #DCSR>, %x: f64) -> f64 {
  // expected-error @+1 {{crashes at a body that yields its own argument; a value that an op computes is accepted}}
  %r = sparse_tensor.foreach in %a init(%x): tensor<2x4xf64, #DCSR>, f64 -> f64 do {
  ^bb0(%i: index, %j: index, %v: f64, %s: f64):
    sparse_tensor.yield %v : f64
  }
  return %r : f64
}

// -----

#SV = #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>
func.func @new(%p: !llvm.ptr) -> tensor<128xf64, #SV> {
  // expected-remark @+2 {{left to upstream's sparsifier}}
  // expected-error @+1 {{upstream's sparsifier does not end on a vector (rank 1); rank 2 or more is accepted}}
  %0 = sparse_tensor.new %p : !llvm.ptr to tensor<128xf64, #SV>
  return %0 : tensor<128xf64, #SV>
}
