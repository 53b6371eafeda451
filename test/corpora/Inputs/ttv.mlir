#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
#T = #sparse_tensor.encoding<{ map = (i, j, k) -> (i : compressed, j : compressed, k : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %t = arith.constant sparse<[[0, 0, 1], [1, 2, 0], [1, 2, 3]], [1.0, 2.0, 3.0]> : tensor<2x3x4xf64>
  %ts = sparse_tensor.convert %t : tensor<2x3x4xf64> to tensor<2x3x4xf64, #T>
  %b = arith.constant dense<[1.0, 0.0, 2.0]> : tensor<3xf64>
  %bs = sparse_tensor.convert %b : tensor<3xf64> to tensor<3xf64, #V>
  %e = tensor.empty() : tensor<2x4xf64, #DCSR>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k, j)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%ts, %bs : tensor<2x3x4xf64, #T>, tensor<3xf64, #V>) outs(%e : tensor<2x4xf64, #DCSR>) {
^bb0(%x: f64, %y: f64, %o: f64):
  %p = arith.mulf %x, %y : f64
  %r = arith.addf %o, %p : f64
  linalg.yield %r : f64
  } -> tensor<2x4xf64, #DCSR>
  sparse_tensor.print %q : tensor<2x4xf64, #DCSR>
  return
}
