// Slices of buffers, of a padded one and of a slice, with offsets known at run time: copied into, loaded from.
// RUN: %tile_run %s --target=emulate:sm_80 --check-against=interpret
// RUN: %tile_run %s --target=emulate:gfx942 --check-against=interpret
#rows = #tile.layout<offset [32:d1, 64:d0] pad 8 every 32>
!whole = !tile.buffer<64x32xf32, #rows, local>
!piece = !tile.buffer<8x32xf32, #tile.layout<offset [32:d1, 8:d0]>, local>
!corner = !tile.buffer<8x16xf32, #tile.layout<offset [16:d1, 8:d0]>, local>
module {
  func.func @main(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
    %one = arith.constant 1 : index
    %e = tensor.empty() : tensor<64x32xf32>
    %y = tile.launch @slices grid(%one) ins(%x : tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
    return %y : tensor<64x32xf32>
  }
  tile.kernel private @slices(%x: memref<64x32xf32>, %y: memref<64x32xf32>) attributes {warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %B = tile.alloc : !whole
    %X = tile.view %x : memref<64x32xf32> to !tile.view<8x32xf32>
    %Y = tile.view %y : memref<64x32xf32> to !tile.view<8x32xf32>
    // Into the buffer from the last rows on, out of it from the first.
    scf.for %i = %c0 to %c8 step %c1 {
      %r = arith.constant 7 : index
      %j = arith.subi %r, %i : index
      %row = arith.muli %j, %c8 : index
      %to = tile.slice %B[%row, 0] : !whole -> !piece
      tile.copy %X[%i, %c0] to %to : !tile.view<8x32xf32> to !piece
    }
    scf.for %i = %c0 to %c8 step %c1 {
      %row = arith.muli %i, %c8 : index
      %from = tile.slice %B[%row, 0] : !whole -> !piece
      %inner = tile.slice %from[0, 16] : !piece -> !corner
      %a = tile.load %from : !piece -> tensor<8x32xf32>
      %b = tile.load %inner : !corner -> tensor<8x16xf32>
      %c = tile.insert %b into %a[0, 0] : tensor<8x16xf32>, tensor<8x32xf32> -> tensor<8x32xf32>
      tile.store %c, %Y[%i, %c0] : tensor<8x32xf32>, !tile.view<8x32xf32>
    }
    tile.return
  }
}
