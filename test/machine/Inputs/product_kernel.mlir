tile.kernel @product(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<64x64xf32> to !tile.view<64x64xf32>
  %B = tile.view %b : memref<64x64xf32> to !tile.view<64x64xf32>
  %C = tile.view %c : memref<64x64xf32> to !tile.view<64x64xf32>
  %x = tile.load %A[%c0, %c0] : !tile.view<64x64xf32> -> tensor<64x64xf32>
  %y = tile.load %B[%c0, %c0] : !tile.view<64x64xf32> -> tensor<64x64xf32>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %p = tile.mma %x, %y, %z : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tile.store %p, %C[%c0, %c0] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}
