#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -4.0, 5.0], [0.0, 0.0, 7.0, 0.0]]> : tensor<5x4xf64>
  %as = sparse_tensor.convert %a : tensor<5x4xf64> to tensor<5x4xf64, #DCSR>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    outs(%as : tensor<5x4xf64, #DCSR>) {
^bb0(%o: f64):
  %k = arith.constant 3.0 : f64
  %r = arith.mulf %o, %k : f64
  linalg.yield %r : f64
  } -> tensor<5x4xf64, #DCSR>
  sparse_tensor.print %q : tensor<5x4xf64, #DCSR>
  return
}
