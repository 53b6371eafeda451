// Programs written for mlir-opt --sparsifier; sparsifier.py runs them there and here, unchanged.
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed), posWidth = 32, crdWidth = 32 }>
#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton) }>
#BSR = #sparse_tensor.encoding<{ map = ( i, j ) -> ( i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense) }>
#NM = #sparse_tensor.encoding<{ map = ( i, j ) -> ( i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4]), crdWidth = 8 }>
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>

func.func @csr_spmm(%p: tensor<5xindex>, %c: tensor<?xindex>, %v: tensor<?xf32>, %b: tensor<6x3xf32>, %z: tensor<4x3xf32>) -> tensor<4x3xf32> attributes {llvm.emit_c_interface} {
  %a = sparse_tensor.assemble (%p, %c), %v : (tensor<5xindex>, tensor<?xindex>), tensor<?xf32> to tensor<4x6xf32, #CSR>
  %r = linalg.matmul ins(%a, %b : tensor<4x6xf32, #CSR>, tensor<6x3xf32>) outs(%z : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}
func.func @csc_spmv(%d: tensor<4x6xf32>, %x: tensor<4xf32>, %y: tensor<6xf32>) -> tensor<6xf32> attributes {llvm.emit_c_interface} {
  %a = sparse_tensor.convert %d : tensor<4x6xf32> to tensor<4x6xf32, #CSC>
  %r = linalg.vecmat ins(%x, %a : tensor<4xf32>, tensor<4x6xf32, #CSC>) outs(%y : tensor<6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}
func.func @row_sums(%d: tensor<4x6xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {llvm.emit_c_interface} {
  %a = sparse_tensor.convert %d : tensor<4x6xf32> to tensor<4x6xf32, #DCSR>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x6xf32, #DCSR>) outs(%y : tensor<4xf32>) {
  ^bb0(%e: f32, %s: f32):
    %t = arith.addf %e, %s : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @bsr(%d: tensor<4x6xf32>, %b: tensor<6x3xf32>, %z: tensor<4x3xf32>) -> tensor<4x3xf32> attributes {llvm.emit_c_interface} {
  %a = sparse_tensor.convert %d : tensor<4x6xf32> to tensor<4x6xf32, #BSR>
  %r = linalg.matmul ins(%a, %b : tensor<4x6xf32, #BSR>, tensor<6x3xf32>) outs(%z : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}
func.func @sampled(%d: tensor<4x6xf32>, %q: tensor<4x5xf32>, %k: tensor<5x6xf32>, %z: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {llvm.emit_c_interface} {
  %s = sparse_tensor.convert %d : tensor<4x6xf32> to tensor<4x6xf32, #CSR>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s, %q, %k : tensor<4x6xf32, #CSR>, tensor<4x5xf32>, tensor<5x6xf32>) outs(%z : tensor<4x6xf32>) {
  ^bb0(%e: f32, %a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.mulf %e, %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
func.func @entries(%p: tensor<2xindex>, %c: tensor<?x2xindex>, %v: tensor<?xf32>, %d: tensor<4x6xf32>) -> tensor<4x6xf32> attributes {llvm.emit_c_interface} {
  %a = sparse_tensor.assemble (%p, %c), %v : (tensor<2xindex>, tensor<?x2xindex>), tensor<?xf32> to tensor<4x6xf32, #COO>
  %r = sparse_tensor.convert %a : tensor<4x6xf32, #COO> to tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
func.func @windows(%c: tensor<?xi8>, %v: tensor<?xf32>, %x: tensor<8xf32>, %y: tensor<4xf32>) -> tensor<4xf32> attributes {llvm.emit_c_interface} {
  %a = sparse_tensor.assemble (%c), %v : (tensor<?xi8>), tensor<?xf32> to tensor<4x8xf32, #NM>
  %r = linalg.matvec ins(%a, %x : tensor<4x8xf32, #NM>, tensor<8xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @twice(%a: tensor<4x6xf32, #CSR>, %b: tensor<6x3xf32>, %z: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x6xf32, #CSR>, tensor<6x3xf32>) outs(%z : tensor<4x3xf32>) -> tensor<4x3xf32>
  %s = linalg.matmul ins(%a, %b : tensor<4x6xf32, #CSR>, tensor<6x3xf32>) outs(%r : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %s : tensor<4x3xf32>
}
func.func @calls(%d: tensor<4x6xf32>, %b: tensor<6x3xf32>, %z: tensor<4x3xf32>) -> tensor<4x3xf32> attributes {llvm.emit_c_interface} {
  %a = sparse_tensor.convert %d : tensor<4x6xf32> to tensor<4x6xf32, #CSR>
  %r = func.call @twice(%a, %b, %z) : (tensor<4x6xf32, #CSR>, tensor<6x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %r : tensor<4x3xf32>
}
