#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -4.0, 5.0], [0.0, 0.0, 7.0, 0.0]]> : tensor<5x4xf64>
  %b = arith.constant dense<[[0.0, 7.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [8.0, 0.0, 0.0, 0.0], [0.0, 0.0, 6.0, 5.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<5x4xf64>
  %as = sparse_tensor.convert %a : tensor<5x4xf64> to tensor<5x4xf64, #CSC>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%as : tensor<5x4xf64, #CSC>) outs(%b : tensor<5x4xf64>) {
^bb0(%x: f64, %o: f64):
  %r = arith.addf %x, %o : f64
  linalg.yield %r : f64
  } -> tensor<5x4xf64>
  %zq = arith.constant 0.0 : f64
  %vq = vector.transfer_read %q[%c0, %c0], %zq : tensor<5x4xf64>, vector<5x4xf64>
  vector.print %vq : vector<5x4xf64>
  return
}
