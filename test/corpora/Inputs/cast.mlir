#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -4.0, 5.0], [0.0, 0.0, 7.0, 0.0]]> : tensor<5x4xf64>
  %as = sparse_tensor.convert %a : tensor<5x4xf64> to tensor<5x4xf64, #DCSR>
  %e = tensor.empty() : tensor<5x4xi32, #DCSR>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%as : tensor<5x4xf64, #DCSR>) outs(%e : tensor<5x4xi32, #DCSR>) {
^bb0(%x: f64, %o: i32):
  %r = arith.fptosi %x : f64 to i32
  linalg.yield %r : i32
  } -> tensor<5x4xi32, #DCSR>
  sparse_tensor.print %q : tensor<5x4xi32, #DCSR>
  return
}
