#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -4.0, 5.0], [0.0, 0.0, 7.0, 0.0]]> : tensor<5x4xf64>
  %b = arith.constant dense<[[0.0, 7.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [8.0, 0.0, 0.0, 0.0], [0.0, 0.0, 6.0, 5.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<5x4xf64>
  %as = sparse_tensor.convert %a : tensor<5x4xf64> to tensor<5x4xf64, #DCSR>
  %bs = sparse_tensor.convert %b : tensor<5x4xf64> to tensor<5x4xf64, #CSR>
  %q = sparse_tensor.concatenate %as, %bs {dimension = 1 : index} : tensor<5x4xf64, #DCSR>, tensor<5x4xf64, #CSR> to tensor<5x8xf64, #DCSR>
  sparse_tensor.print %q : tensor<5x8xf64, #DCSR>
  return
}
