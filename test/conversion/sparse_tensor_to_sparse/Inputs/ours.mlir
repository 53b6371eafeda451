// Inputs/kernels.mlir in our dialect; sparsifier.py runs it after convert-sparse-to-sparse-tensor.
#csr = #sparse.csr<positions = i64, coordinates = i64>
#coo = #sparse.coo<coordinates = i64>
func.func @csr_spmm(%p: tensor<5xi64>, %c: tensor<?xi64>, %v: tensor<?xf32>, %b: tensor<6x3xf32>, %z: tensor<4x3xf32>) -> tensor<4x3xf32> attributes {llvm.emit_c_interface} {
  %a = sparse.assemble(%p, %c, %v) : tensor<5xi64>, tensor<?xi64>, tensor<?xf32> -> tensor<4x6xf32, #csr>
  %r = sparse.spmm %a, %b, %z : tensor<4x6xf32, #csr>, tensor<6x3xf32>, tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}
func.func @csc_spmv(%d: tensor<4x6xf32>, %x: tensor<4xf32>, %y: tensor<6xf32>) -> tensor<6xf32> attributes {llvm.emit_c_interface} {
  %a = sparse.pack %d : tensor<4x6xf32> -> tensor<4x6xf32, #sparse.csc>
  %r = sparse.spmv %a transpose, %x, %y : tensor<4x6xf32, #sparse.csc>, tensor<4xf32>, tensor<6xf32>
  return %r : tensor<6xf32>
}
func.func @row_sums(%d: tensor<4x6xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {llvm.emit_c_interface} {
  %a = sparse.pack %d : tensor<4x6xf32> -> tensor<4x6xf32, #sparse.csr>
  %r = sparse.reduce add %a along 1, %y : tensor<4x6xf32, #sparse.csr>, tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @bsr(%d: tensor<4x6xf32>, %b: tensor<6x3xf32>, %z: tensor<4x3xf32>) -> tensor<4x3xf32> attributes {llvm.emit_c_interface} {
  %a = sparse.pack %d : tensor<4x6xf32> -> tensor<4x6xf32, #sparse.bsr<block = [2, 3]>>
  %r = sparse.spmm %a, %b, %z : tensor<4x6xf32, #sparse.bsr<block = [2, 3]>>, tensor<6x3xf32>, tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}
func.func @sampled(%d: tensor<4x6xf32>, %q: tensor<4x5xf32>, %k: tensor<5x6xf32>, %z: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {llvm.emit_c_interface} {
  %s = sparse.pack %d : tensor<4x6xf32> -> tensor<4x6xf32, #sparse.csr>
  %t = linalg.matmul ins(%q, %k : tensor<4x5xf32>, tensor<5x6xf32>) outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %n = linalg.sub ins(%t, %z : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %m = sparse.pack %n : tensor<4x6xf32> -> tensor<4x6xf32, #sparse.csr>
  %p = sparse.mul %s, %m : tensor<4x6xf32, #sparse.csr>
  %u = sparse.unpack %p : tensor<4x6xf32, #sparse.csr> -> tensor<4x6xf32>
  %r = linalg.add ins(%z, %u : tensor<4x6xf32>, tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
func.func @entries(%p: tensor<2xi64>, %c: tensor<?x2xi64>, %v: tensor<?xf32>, %d: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %v, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<2x?xi64>
  %t = linalg.transpose ins(%c : tensor<?x2xi64>) outs(%e : tensor<2x?xi64>) permutation = [1, 0]
  %a = sparse.assemble(%t, %v) : tensor<2x?xi64>, tensor<?xf32> -> tensor<4x6xf32, #coo>
  %b = sparse.convert %a : tensor<4x6xf32, #coo> -> tensor<4x6xf32, #csr>
  %q, %x, %w = sparse.disassemble %b : tensor<4x6xf32, #csr> -> tensor<5xi64>, tensor<?xi64>, tensor<?xf32>
  %f = sparse.assemble(%q, %x, %w) : tensor<5xi64>, tensor<?xi64>, tensor<?xf32> -> tensor<4x6xf32, #csr>
  %r = sparse.unpack %f : tensor<4x6xf32, #csr> -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
func.func @windows(%c: tensor<?xi8>, %v: tensor<?xf32>, %x: tensor<8xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {llvm.emit_c_interface} {
  %cs = tensor.cast %c : tensor<?xi8> to tensor<16xi8>
  %vs = tensor.cast %v : tensor<?xf32> to tensor<16xf32>
  %ce = tensor.expand_shape %cs [[0, 1, 2]] output_shape [4, 2, 2] : tensor<16xi8> into tensor<4x2x2xi8>
  %ve = tensor.expand_shape %vs [[0, 1, 2, 3]] output_shape [4, 2, 2, 1] : tensor<16xf32> into tensor<4x2x2x1xf32>
  %a = sparse.assemble(%ce, %ve) : tensor<4x2x2xi8>, tensor<4x2x2x1xf32> -> tensor<4x8xf32, #sparse.nm<n = 2, m = 4>>
  %r = sparse.spmv %a, %x, %y : tensor<4x8xf32, #sparse.nm<n = 2, m = 4>>, tensor<8xf32>, tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @twice(%a: tensor<4x6xf32, #sparse.csr>, %b: tensor<6x3xf32>, %z: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %s = sparse.add %a, %a : tensor<4x6xf32, #sparse.csr>
  %r = sparse.spmm %s, %b, %z : tensor<4x6xf32, #sparse.csr>, tensor<6x3xf32>, tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}
func.func @calls(%d: tensor<4x6xf32>, %b: tensor<6x3xf32>, %z: tensor<4x3xf32>) -> tensor<4x3xf32> attributes {llvm.emit_c_interface} {
  %a = sparse.pack %d : tensor<4x6xf32> -> tensor<4x6xf32, #sparse.csr>
  %r = func.call @twice(%a, %b, %z) : (tensor<4x6xf32, #sparse.csr>, tensor<6x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}
