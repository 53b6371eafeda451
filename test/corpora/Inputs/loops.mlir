#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -4.0, 5.0], [0.0, 0.0, 7.0, 0.0]]> : tensor<5x4xf64>
  %as = sparse_tensor.convert %a : tensor<5x4xf64> to tensor<5x4xf64, #DCSR>
  %n = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%c = %as) -> (tensor<5x4xf64, #DCSR>) {
  %e = tensor.empty() : tensor<5x4xf64, #DCSR>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%c, %as : tensor<5x4xf64, #DCSR>, tensor<5x4xf64, #DCSR>) outs(%e : tensor<5x4xf64, #DCSR>) {
^bb0(%x: f64, %y: f64, %o: f64):
  %r = arith.addf %x, %y : f64
  linalg.yield %r : f64
  } -> tensor<5x4xf64, #DCSR>
  scf.yield %s : tensor<5x4xf64, #DCSR>
  }
  sparse_tensor.print %q : tensor<5x4xf64, #DCSR>
  return
}
