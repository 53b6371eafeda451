#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -4.0, 5.0], [0.0, 0.0, 7.0, 0.0]]> : tensor<5x4xf64>
  %b = arith.constant dense<[1.0, 0.0, 2.0, 3.0]> : tensor<4xf64>
  %as = sparse_tensor.convert %a : tensor<5x4xf64> to tensor<5x4xf64, #DCSR>
  %bs = sparse_tensor.convert %b : tensor<4xf64> to tensor<4xf64, #V>
  %e = arith.constant dense<0.0> : tensor<5xf64>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%as, %bs : tensor<5x4xf64, #DCSR>, tensor<4xf64, #V>) outs(%e : tensor<5xf64>) {
^bb0(%x: f64, %y: f64, %o: f64):
  %p = arith.mulf %x, %y : f64
  %r = arith.addf %o, %p : f64
  linalg.yield %r : f64
  } -> tensor<5xf64>
  %zq = arith.constant 0.0 : f64
  %vq = vector.transfer_read %q[%c0], %zq : tensor<5xf64>, vector<5xf64>
  vector.print %vq : vector<5xf64>
  return
}
