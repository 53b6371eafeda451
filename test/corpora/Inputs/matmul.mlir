#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -4.0, 5.0], [0.0, 0.0, 7.0, 0.0]]> : tensor<5x4xf64>
  %b = arith.constant dense<[[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 5.0, 0.0]]> : tensor<4x3xf64>
  %as = sparse_tensor.convert %a : tensor<5x4xf64> to tensor<5x4xf64, #CSR>
  %bs = sparse_tensor.convert %b : tensor<4x3xf64> to tensor<4x3xf64, #DCSR>
  %e = tensor.empty() : tensor<5x3xf64, #CSR>
  %q = linalg.matmul ins(%as, %bs : tensor<5x4xf64, #CSR>, tensor<4x3xf64, #DCSR>) outs(%e : tensor<5x3xf64, #CSR>) -> tensor<5x3xf64, #CSR>
  sparse_tensor.print %q : tensor<5x3xf64, #CSR>
  return
}
