#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>
#CSB = #sparse_tensor.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense) }>
#DD = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : dense) }>
#SOA = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)) }>
func.func @main() {
  %a = arith.constant dense<[[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 0.0, -4.0, 0.0], [0.0, 0.0, 7.0, 0.0], [0.0, 0.0, 7.0, 8.0]]> : tensor<6x4xf64>
  %1 = sparse_tensor.convert %a : tensor<6x4xf64> to tensor<6x4xf64, #COO>
  sparse_tensor.print %1 : tensor<6x4xf64, #COO>
  %2 = sparse_tensor.convert %a : tensor<6x4xf64> to tensor<6x4xf64, #CSB>
  sparse_tensor.print %2 : tensor<6x4xf64, #CSB>
  %5 = sparse_tensor.convert %a : tensor<6x4xf64> to tensor<6x4xf64, #DD>
  sparse_tensor.print %5 : tensor<6x4xf64, #DD>
  %6 = sparse_tensor.convert %a : tensor<6x4xf64> to tensor<6x4xf64, #SOA>
  sparse_tensor.print %6 : tensor<6x4xf64, #SOA>
  return
}
