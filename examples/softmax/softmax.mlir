// A hand-written tile kernel: softmax of every row, four rows per program. Edit it: `./dev demo` shows what changes.
// Try: 8 rows per program; subtract the row's mean instead of its maximum; scale %d before exp (a temperature).
//
// Padding with -inf, the neutral element, makes masks unnecessary: exp(-inf - m) = 0 adds nothing to the sum.
func.func @main(%x: tensor<?x1000xf32>) -> tensor<?x1000xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %rows = tensor.dim %x, %c0 : tensor<?x1000xf32>
  %programs = arith.ceildivui %rows, %c4 : index
  %e = tensor.empty(%rows) : tensor<?x1000xf32>
  %y = tile.launch @softmax grid(%programs) ins(%x : tensor<?x1000xf32>) outs(%e : tensor<?x1000xf32>) -> tensor<?x1000xf32>
  return %y : tensor<?x1000xf32>
}

tile.kernel private @softmax(%x: memref<?x1000xf32>, %y: memref<?x1000xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x1000xf32> to !tile.view<4x1000xf32, pad = neg_inf>
  %Y = tile.view %y : memref<?x1000xf32> to !tile.view<4x1000xf32>
  %v = tile.load %X[%i, %c0] : !tile.view<4x1000xf32, pad = neg_inf> -> tensor<4x1000xf32>
  %m = tile.reduce {arith.maximumf} %v axes [1] : tensor<4x1000xf32> -> tensor<4xf32>
  %mb = tile.broadcast %m axes [1] : tensor<4xf32> -> tensor<4x1000xf32>
  %d = arith.subf %v, %mb : tensor<4x1000xf32>
  %e = math.exp %d : tensor<4x1000xf32>
  %s = tile.reduce {arith.addf} %e axes [1] : tensor<4x1000xf32> -> tensor<4xf32>
  %sb = tile.broadcast %s axes [1] : tensor<4xf32> -> tensor<4x1000xf32>
  %r = arith.divf %e, %sb : tensor<4x1000xf32>
  tile.store %r, %Y[%i, %c0] : tensor<4x1000xf32>, !tile.view<4x1000xf32>
  tile.return
}
