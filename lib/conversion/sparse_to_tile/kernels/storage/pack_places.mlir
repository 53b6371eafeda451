// Places of kept elements, 2 of 4, as tile.mma_sparse takes them: four in a byte. What lies beyond the matrix stands at
// 0 and 1: an odd one never at 0.
//   type $I = i8
//   op $NARROW = arith.bitcast
tile.kernel @kernel(%crd: memref<?x?x$I>, %bytes: memref<?x?xi8>) {
  %row = tile.program_id 0
  %col = tile.program_id 1
  %F = tile.view %crd : memref<?x?x$I> to !tile.view<16x64x$I>
  %O = tile.view %bytes : memref<?x?xi8> to !tile.view<16x16xi8>
  %one = arith.constant dense<1> : tensor<16x64xi8>
  %two = arith.constant dense<2> : tensor<16x16x4xi8>
  %read = tile.load %F[%row, %col] : !tile.view<16x64x$I> -> tensor<16x64x$I>
  %place = $NARROW %read : tensor<16x64x$I> to tensor<16x64xi8>
  %number = tile.iota dim 1 : tensor<16x64xi8>
  %odd = arith.andi %number, %one : tensor<16x64xi8>
  %ascending = arith.maxui %place, %odd : tensor<16x64xi8>
  %fours = tile.reshape %ascending : tensor<16x64xi8> -> tensor<16x16x4xi8>
  %which = tile.iota dim 2 : tensor<16x16x4xi8>
  %shift = arith.muli %which, %two : tensor<16x16x4xi8>
  %bits = arith.shli %fours, %shift : tensor<16x16x4xi8>
  %whole = tile.reduce {arith.ori} %bits axes [2] : tensor<16x16x4xi8> -> tensor<16x16xi8>
  tile.store %whole, %O[%row, %col] : tensor<16x16xi8>, !tile.view<16x16xi8>
  tile.return
}
