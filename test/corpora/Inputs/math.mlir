#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -4.0, 5.0], [0.0, 0.0, 7.0, 0.0]]> : tensor<5x4xf64>
  %as = sparse_tensor.convert %a : tensor<5x4xf64> to tensor<5x4xf64, #CSC>
  %e = tensor.empty() : tensor<5x4xf64, #CSC>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%as : tensor<5x4xf64, #CSC>) outs(%e : tensor<5x4xf64, #CSC>) {
^bb0(%x: f64, %o: f64):
  %k = math.absf %x : f64
  %l = math.sqrt %k : f64
  %r = math.floor %l : f64
  linalg.yield %r : f64
  } -> tensor<5x4xf64, #CSC>
  sparse_tensor.print %q : tensor<5x4xf64, #CSC>
  return
}
