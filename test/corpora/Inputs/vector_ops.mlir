#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant sparse<[[0], [3], [9]], [1.0, 2.0, 3.0]> : tensor<11xf64>
  %b = arith.constant sparse<[[3], [4], [9]], [4.0, 5.0, 6.0]> : tensor<11xf64>
  %as = sparse_tensor.convert %a : tensor<11xf64> to tensor<11xf64, #V>
  %bs = sparse_tensor.convert %b : tensor<11xf64> to tensor<11xf64, #V>
  %e = tensor.empty() : tensor<11xf64, #V>
  %q = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%as, %bs : tensor<11xf64, #V>, tensor<11xf64, #V>) outs(%e : tensor<11xf64, #V>) {
^bb0(%x: f64, %y: f64, %o: f64):
  %r = arith.mulf %x, %y : f64
  linalg.yield %r : f64
  } -> tensor<11xf64, #V>
  sparse_tensor.print %q : tensor<11xf64, #V>
  %f = tensor.empty() : tensor<11xf64, #V>
  %u = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%as, %bs : tensor<11xf64, #V>, tensor<11xf64, #V>) outs(%f : tensor<11xf64, #V>) {
^bb0(%x: f64, %y: f64, %o: f64):
  %r = arith.addf %x, %y : f64
  linalg.yield %r : f64
  } -> tensor<11xf64, #V>
  sparse_tensor.print %u : tensor<11xf64, #V>
  %g = arith.constant dense<0.0> : tensor<f64>
  %d = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
    ins(%as, %bs : tensor<11xf64, #V>, tensor<11xf64, #V>) outs(%g : tensor<f64>) {
^bb0(%x: f64, %y: f64, %o: f64):
  %p = arith.mulf %x, %y : f64
  %r = arith.addf %o, %p : f64
  linalg.yield %r : f64
  } -> tensor<f64>
  %s = tensor.extract %d[] : tensor<f64>
  vector.print %s : f64
  return
}
