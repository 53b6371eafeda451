#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant sparse<[[1], [5], [11]], [1.0, 2.0, 3.0]> : tensor<12xf64>
  %as = sparse_tensor.convert %a : tensor<12xf64> to tensor<12xf64, #V>
  %q = tensor.expand_shape %as [[0, 1]] output_shape [3, 4] : tensor<12xf64, #V> into tensor<3x4xf64, #DCSR>
  sparse_tensor.print %q : tensor<3x4xf64, #DCSR>
  return
}
