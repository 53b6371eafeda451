#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>
#T = #sparse_tensor.encoding<{ map = (i, j, k) -> (i : compressed, j : compressed, k : compressed) }>
func.func @main() {
  %c0 = arith.constant 0 : index
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -4.0, 5.0], [0.0, 0.0, 7.0, 0.0]]> : tensor<5x4xf64>
  %as = sparse_tensor.convert %a : tensor<5x4xf64> to tensor<5x4xf64, #COO>
  %qDCSR = sparse_tensor.convert %as : tensor<5x4xf64, #COO> to tensor<5x4xf64, #DCSR>
  sparse_tensor.print %qDCSR : tensor<5x4xf64, #DCSR>
  %qCSC = sparse_tensor.convert %as : tensor<5x4xf64, #COO> to tensor<5x4xf64, #CSC>
  sparse_tensor.print %qCSC : tensor<5x4xf64, #CSC>
  %qCSR = sparse_tensor.convert %as : tensor<5x4xf64, #COO> to tensor<5x4xf64, #CSR>
  sparse_tensor.print %qCSR : tensor<5x4xf64, #CSR>
  %t = arith.constant sparse<[[0, 0, 1], [1, 2, 0], [1, 2, 3]], [1.0, 2.0, 3.0]> : tensor<2x3x4xf64>
  %ts = sparse_tensor.convert %t : tensor<2x3x4xf64> to tensor<2x3x4xf64, #T>
  sparse_tensor.print %ts : tensor<2x3x4xf64, #T>
  return
}
