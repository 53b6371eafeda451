#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -4.0, 5.0], [0.0, 0.0, 7.0, 0.0]]> : tensor<5x4xf64>
  %as = sparse_tensor.convert %a : tensor<5x4xf64> to tensor<5x4xf64, #DCSR>
  %e = arith.constant dense<1.0> : tensor<f64>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
    ins(%as : tensor<5x4xf64, #DCSR>) outs(%e : tensor<f64>) {
^bb0(%x: f64, %o: f64):
  %r = arith.addf %x, %o : f64
  linalg.yield %r : f64
  } -> tensor<f64>
  %s = tensor.extract %q[] : tensor<f64>
  vector.print %s : f64
  return
}
