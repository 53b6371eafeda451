#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1, 0, 2], [0, 0, 3]]> : tensor<2x3xi64>
  %as = sparse_tensor.convert %a : tensor<2x3xi64> to tensor<2x3xi64, #DCSR>
  %e = tensor.empty() : tensor<2x3xi64, #DCSR>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%as : tensor<2x3xi64, #DCSR>) outs(%e : tensor<2x3xi64, #DCSR>) {
^bb0(%x: i64, %o: i64):
  %i = linalg.index 1 : index
  %j = arith.index_cast %i : index to i64
  %r = arith.muli %x, %j : i64
  linalg.yield %r : i64
  } -> tensor<2x3xi64, #DCSR>
  sparse_tensor.print %q : tensor<2x3xi64, #DCSR>
  return
}
