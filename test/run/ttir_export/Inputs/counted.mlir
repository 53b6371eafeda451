tile.kernel @counted(%x: memref<16xi32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<16xi32> to !tile.view<16xi32>
  %v = tile.load %X[%c0] : !tile.view<16xi32> -> tensor<16xi32>
  %w = math.ctpop %v : tensor<16xi32>
  tile.store %w, %X[%c0] : tensor<16xi32>, !tile.view<16xi32>
  tile.return
}
