// Conversions between sparse tensors that change the elements' type too. Upstream refuses the program, so the
// interpreter and compiled code judge each other.
#CSR = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
#COO = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed(nonunique), d1 : singleton(soa)) }>

func.func @main() {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = arith.constant dense<[[1.1, 0.0, -2.7], [0.0, 0.0, 300.6], [0.3, 4.5, 0.0]]> : tensor<3x3xf64>
  %s = sparse_tensor.convert %a : tensor<3x3xf64> to tensor<3x3xf64, #CSR>
  %f = sparse_tensor.convert %s : tensor<3x3xf64, #CSR> to tensor<3x3xf32, #CSR>
  %h = sparse_tensor.convert %s : tensor<3x3xf64, #CSR> to tensor<3x3xf16, #COO>
  %i = sparse_tensor.convert %s : tensor<3x3xf64, #CSR> to tensor<3x3xi32, #COO>
  %n = sparse_tensor.convert %i : tensor<3x3xi32, #COO> to tensor<3x3xi16, #CSR>
  %r = sparse_tensor.convert %n : tensor<3x3xi16, #CSR> to tensor<3x3xf32, #COO>
  sparse_tensor.print %f : tensor<3x3xf32, #CSR>
  sparse_tensor.print %h : tensor<3x3xf16, #COO>
  sparse_tensor.print %i : tensor<3x3xi32, #COO>
  sparse_tensor.print %n : tensor<3x3xi16, #CSR>
  sparse_tensor.print %r : tensor<3x3xf32, #COO>
  %d = sparse_tensor.convert %s : tensor<3x3xf64, #CSR> to tensor<3x3xf32>
  %v = vector.transfer_read %d[%c0, %c0], %zero : tensor<3x3xf32>, vector<3x3xf32>
  vector.print %v : vector<3x3xf32>
  return
}
