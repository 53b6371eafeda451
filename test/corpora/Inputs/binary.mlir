#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -4.0, 5.0], [0.0, 0.0, 7.0, 0.0]]> : tensor<5x4xf64>
  %b = arith.constant dense<[[0.0, 7.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [8.0, 0.0, 0.0, 0.0], [0.0, 0.0, 6.0, 5.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<5x4xf64>
  %as = sparse_tensor.convert %a : tensor<5x4xf64> to tensor<5x4xf64, #DCSR>
  %bs = sparse_tensor.convert %b : tensor<5x4xf64> to tensor<5x4xf64, #CSR>
  %e = tensor.empty() : tensor<5x4xf64, #DCSR>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%as, %bs : tensor<5x4xf64, #DCSR>, tensor<5x4xf64, #CSR>) outs(%e : tensor<5x4xf64, #DCSR>) {
^bb0(%x: f64, %y: f64, %o: f64):
  %r = sparse_tensor.binary %x, %y : f64, f64 to f64
   overlap = {
^bb0(%l: f64, %m: f64):
  %w = arith.minimumf %l, %m : f64
  sparse_tensor.yield %w : f64
  } left = identity right = {}
  linalg.yield %r : f64
  } -> tensor<5x4xf64, #DCSR>
  sparse_tensor.print %q : tensor<5x4xf64, #DCSR>
  %f = tensor.empty() : tensor<5x4xf64, #DCSR>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%as, %bs : tensor<5x4xf64, #DCSR>, tensor<5x4xf64, #CSR>) outs(%f : tensor<5x4xf64, #DCSR>) {
^bb0(%x: f64, %y: f64, %o: f64):
  %r = sparse_tensor.binary %x, %y : f64, f64 to f64
   overlap = {} left = identity right = identity
  linalg.yield %r : f64
  } -> tensor<5x4xf64, #DCSR>
  sparse_tensor.print %p : tensor<5x4xf64, #DCSR>
  return
}
