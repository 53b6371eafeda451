#T = #sparse_tensor.encoding<{ map = (i, j, k) -> (i : compressed, j : compressed, k : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %t = arith.constant sparse<[[0, 0, 1], [1, 2, 0], [1, 2, 3]], [1.0, 2.0, 3.0]> : tensor<2x3x4xf64>
  %ts = sparse_tensor.convert %t : tensor<2x3x4xf64> to tensor<2x3x4xf64, #T>
  %c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf64>
  %d = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf64>
  %e = arith.constant dense<0.0> : tensor<2x2xf64>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, k, l)>, affine_map<(i, j, k, l) -> (k, j)>, affine_map<(i, j, k, l) -> (l, j)>, affine_map<(i, j, k, l) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    ins(%ts, %c, %d : tensor<2x3x4xf64, #T>, tensor<3x2xf64>, tensor<4x2xf64>) outs(%e : tensor<2x2xf64>) {
^bb0(%x: f64, %y: f64, %z: f64, %o: f64):
  %p = arith.mulf %x, %y : f64
  %s = arith.mulf %p, %z : f64
  %r = arith.addf %o, %s : f64
  linalg.yield %r : f64
  } -> tensor<2x2xf64>
  %zq = arith.constant 0.0 : f64
  %vq = vector.transfer_read %q[%c0, %c0], %zq : tensor<2x2xf64>, vector<2x2xf64>
  vector.print %vq : vector<2x2xf64>
  return
}
