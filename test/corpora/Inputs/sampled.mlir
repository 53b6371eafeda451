#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -4.0, 5.0], [0.0, 0.0, 7.0, 0.0]]> : tensor<5x4xf64>
  %as = sparse_tensor.convert %a : tensor<5x4xf64> to tensor<5x4xf64, #DCSR>
  %l = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 1.0]]> : tensor<5x2xf64>
  %m = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf64>
  %e = arith.constant dense<0.0> : tensor<5x4xf64>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%as, %l, %m : tensor<5x4xf64, #DCSR>, tensor<5x2xf64>, tensor<2x4xf64>) outs(%e : tensor<5x4xf64>) {
^bb0(%x: f64, %y: f64, %z: f64, %o: f64):
  %p = arith.mulf %y, %z : f64
  %t = arith.mulf %x, %p : f64
  %r = arith.addf %o, %t : f64
  linalg.yield %r : f64
  } -> tensor<5x4xf64>
  %zq = arith.constant 0.0 : f64
  %vq = vector.transfer_read %q[%c0, %c0], %zq : tensor<5x4xf64>, vector<5x4xf64>
  vector.print %vq : vector<5x4xf64>
  return
}
