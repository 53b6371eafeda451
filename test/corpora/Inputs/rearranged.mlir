// Slices, other shapes, parts with dense levels side by side, choices, listed elements one by one, and a result of zeros.
#CSR = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
#DCSR = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : compressed) }>
#CD = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : dense) }>
#PART = #sparse_tensor.encoding<{
  map = (d0 : #sparse_tensor<slice(1, 2, 2)>, d1 : #sparse_tensor<slice(0, 3, 1)>) -> (d0 : compressed, d1 : compressed)
}>
#V = #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>
#same = affine_map<(i, j) -> (i, j)>

func.func @choose(%c: tensor<4x3xi1>, %a: tensor<4x3xf64, #DCSR>, %b: tensor<4x3xf64, #DCSR>) -> tensor<4x3xf64, #DCSR> {
  %x = tensor.empty() : tensor<4x3xf64, #DCSR>
  %0 = linalg.generic {indexing_maps = [#same, #same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%c, %a, %b : tensor<4x3xi1>, tensor<4x3xf64, #DCSR>, tensor<4x3xf64, #DCSR>)
      outs(%x : tensor<4x3xf64, #DCSR>) {
  ^bb0(%p: i1, %q: f64, %r: f64, %out: f64):
    %1 = arith.select %p, %q, %r : f64
    linalg.yield %1 : f64
  } -> tensor<4x3xf64, #DCSR>
  return %0 : tensor<4x3xf64, #DCSR>
}

func.func @zeros() -> tensor<5xf64, #V> {
  %zero = arith.constant 0.0 : f64
  %x = tensor.empty() : tensor<5xf64, #V>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : tensor<5xf64, #V>) {
  ^bb0(%out: f64):
    linalg.yield %zero : f64
  } -> tensor<5xf64, #V>
  return %0 : tensor<5xf64, #V>
}

func.func @main() {
  %d = arith.constant dense<[[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [4.0, 0.0, 5.0]]> : tensor<4x3xf64>
  %a = sparse_tensor.convert %d : tensor<4x3xf64> to tensor<4x3xf64, #DCSR>

  %part = tensor.extract_slice %a[1, 0] [2, 3] [2, 1] : tensor<4x3xf64, #DCSR> to tensor<2x3xf64, #PART>
  %whole = sparse_tensor.convert %part : tensor<2x3xf64, #PART> to tensor<2x3xf64, #CSR>
  sparse_tensor.print %whole : tensor<2x3xf64, #CSR>

  %sizes = arith.constant dense<[2, 6]> : tensor<2xi32>
  %other = tensor.reshape %a(%sizes) : (tensor<4x3xf64, #DCSR>, tensor<2xi32>) -> tensor<2x6xf64, #DCSR>
  sparse_tensor.print %other : tensor<2x6xf64, #DCSR>

  %rows = sparse_tensor.convert %d : tensor<4x3xf64> to tensor<4x3xf64, #CD>
  %both = sparse_tensor.concatenate %a, %rows {dimension = 0 : index}
    : tensor<4x3xf64, #DCSR>, tensor<4x3xf64, #CD> to tensor<8x3xf64, #DCSR>
  sparse_tensor.print %both : tensor<8x3xf64, #DCSR>

  %c = arith.constant sparse<[[0, 0], [3, 2]], [true, true]> : tensor<4x3xi1>
  %l = arith.constant sparse<[[1, 1], [3, 2]], [7.0, 8.0]> : tensor<4x3xf64>
  %b = sparse_tensor.convert %l : tensor<4x3xf64> to tensor<4x3xf64, #DCSR>
  %chosen = call @choose(%c, %a, %b) : (tensor<4x3xi1>, tensor<4x3xf64, #DCSR>, tensor<4x3xf64, #DCSR>) -> tensor<4x3xf64, #DCSR>
  sparse_tensor.print %chosen : tensor<4x3xf64, #DCSR>

  sparse_tensor.foreach in %l : tensor<4x3xf64> do {
  ^bb0(%i: index, %j: index, %v: f64):
    vector.print %i : index
    vector.print %v : f64
  }

  %z = call @zeros() : () -> tensor<5xf64, #V>
  sparse_tensor.print %z : tensor<5xf64, #V>
  return
}
