// What is not walked is an error at the op, and the module stays as it was.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --convert-sparse-tensor-to-tile

#ONES = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), explicitVal = 1.0 : f32 }>
// expected-error@+1 {{stores a sparse tensor in levels that are not walked here}}
func.func @levels(%a: tensor<4x4xf32, #ONES>) { return }

// -----

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#same = {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]}
func.func @call(%a: tensor<4x4xf32, #CSR>, %z: tensor<4x4xf32>, %m: memref<4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{reads a value from around it that a kernel does not take}}
  %r = linalg.generic #same ins(%a : tensor<4x4xf32, #CSR>) outs(%z : tensor<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %i = linalg.index 0 : index
    %y = memref.load %m[%i] : memref<4xf32>
    linalg.yield %y : f32
  } -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#sum = {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, k)>], iterator_types = ["parallel", "reduction", "parallel"]}
func.func @filled(%a: tensor<4x4xf32, #CSR>, %b: tensor<4x4xf32>, %z: tensor<4x4xf32, #CSR>) -> tensor<4x4xf32, #CSR> {
  // expected-error@+1 {{adds to a sparse tensor that is not empty}}
  %r = linalg.generic #sum ins(%a, %b : tensor<4x4xf32, #CSR>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32, #CSR>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32, #CSR>
  return %r : tensor<4x4xf32, #CSR>
}

// -----

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @op(%a: tensor<4x4xf32, #CSR>) -> tensor<4x4xf32, #CSR> {
  // expected-error@+1 {{is not known here to take or give sparse tensors}}
  %r = arith.negf %a : tensor<4x4xf32, #CSR>
  return %r : tensor<4x4xf32, #CSR>
}
