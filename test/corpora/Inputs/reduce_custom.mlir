#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -4.0, 5.0], [0.0, 0.0, 7.0, 0.0]]> : tensor<5x4xf64>
  %as = sparse_tensor.convert %a : tensor<5x4xf64> to tensor<5x4xf64, #CSR>
  %e = tensor.empty() : tensor<5xf64, #V>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%as : tensor<5x4xf64, #CSR>) outs(%e : tensor<5xf64, #V>) {
^bb0(%x: f64, %o: f64):
  %id = arith.constant 1.0e9 : f64
  %r = sparse_tensor.reduce %o, %x, %id : f64 {
^bb0(%l: f64, %m: f64):
  %w = arith.minimumf %l, %m : f64
  sparse_tensor.yield %w : f64
  }
  linalg.yield %r : f64
  } -> tensor<5xf64, #V>
  sparse_tensor.print %q : tensor<5xf64, #V>
  return
}
