#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %x = arith.constant 2.0 : f64
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<4xf64, #V>
  %f = tensor.insert %x into %e[%c2] : tensor<4xf64, #V>
  %q = sparse_tensor.load %f hasInserts : tensor<4xf64, #V>
  sparse_tensor.print %q : tensor<4xf64, #V>
  return
}
