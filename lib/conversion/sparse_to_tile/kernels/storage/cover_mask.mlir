// combine_mask, and a cover of what the mask names: micro-tiles of $LINES rows with more than $LEAST elements (`cover`,
// `covered`: how many are hidden in part), and for each row the number of elements outside of them (`rest`).
// Counts are bytes: of up to 128 rows, and of 64 tiles at a time.
//   type $P = i32
//   integer $LINES = 32, $COLUMNS = 256, $LEAST = 10
!bits = tensor<$COLUMNSxi1>
!bytes = tensor<$COLUMNSxi8>
!counts = tensor<$COLUMNSx$P>
!view = !tile.view<$COLUMNSxi1>
tile.kernel @kernel(%mask: memref<?x?xi1>, %any: memref<?x?xi1>, %some: memref<?x$P>, %cover: memref<?x?xi1>, %covered: memref<?x$P>, %rest: memref<?x$P>) {
  %line = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %lines = arith.constant $LINES : index
  %rows = memref.dim %mask, %c0 : memref<?x?xi1>
  %begin = arith.muli %line, %lines : index
  %after = arith.addi %begin, %lines : index
  %end = arith.minsi %after, %rows : index
  %A = tile.view %any[%line, _] : memref<?x?xi1> to !view
  %C = tile.view %cover[%line, _] : memref<?x?xi1> to !view
  %tiles = tile.num_tiles %A dim 0 : !view
  %M = tile.view %mask : memref<?x?xi1> to !tile.view<1x$COLUMNSxi1>
  %no = arith.constant dense<0> : !bytes
  %least = arith.constant dense<$LEAST> : !bytes
  %zero = arith.constant dense<0> : !counts
  %true = arith.constant dense<1> : !bits
  %many = arith.constant 64 : index
  %height = arith.subi %end, %begin : index
  %narrow = arith.index_cast %height : index to i8
  %whole = tile.broadcast %narrow axes [] : i8 -> !bytes
  %sums:2 = scf.for %t = %c0 to %tiles step %c1 iter_args(%sum = %zero, %inside = %zero) -> (!counts, !counts) {
    %ahead = arith.addi %t, %c2 : index
    %number = scf.for %row = %begin to %end step %c1 iter_args(%seen = %no) -> (!bytes) {
      tile.prefetch %M[%row, %ahead] : !tile.view<1x$COLUMNSxi1>
      %wide = tile.load %M[%row, %t] : !tile.view<1x$COLUMNSxi1> -> tensor<1x$COLUMNSxi1>
      %bits = tile.reshape %wide : tensor<1x$COLUMNSxi1> -> !bits
      %x = arith.extui %bits : !bits to !bytes
      %n = arith.addi %seen, %x : !bytes
      scf.yield %n : !bytes
    }
    %isOne = arith.cmpi ne, %number, %no : !bytes
    tile.store %isOne, %A[%t] : !bits, !view
    %isCover = arith.cmpi ugt, %number, %least : !bytes
    tile.store %isCover, %C[%t] : !bits, !view
    %isPart = arith.cmpi ne, %number, %whole : !bytes
    %hasSome = arith.andi %isOne, %isPart : !bits
    %n = arith.extui %hasSome : !bits to !counts
    %new = arith.addi %sum, %n : !counts
    %hasInside = arith.andi %hasSome, %isCover : !bits
    %i = arith.extui %hasInside : !bits to !counts
    %more = arith.addi %inside, %i : !counts
    scf.yield %new, %more : !counts, !counts
  }
  %total = tile.reduce {arith.addi} %sums#0 axes [0] : !counts -> $P
  memref.store %total, %some[%line] : memref<?x$P>
  %totalInside = tile.reduce {arith.addi} %sums#1 axes [0] : !counts -> $P
  memref.store %totalInside, %covered[%line] : memref<?x$P>
  scf.for %row = %begin to %end step %c1 {
    %outside = scf.for %t0 = %c0 to %tiles step %many iter_args(%sum = %zero) -> (!counts) {
      %t1 = arith.addi %t0, %many : index
      %last = arith.minsi %t1, %tiles : index
      %part = scf.for %t = %t0 to %last step %c1 iter_args(%few = %no) -> (!bytes) {
        %wide = tile.load %M[%row, %t] : !tile.view<1x$COLUMNSxi1> -> tensor<1x$COLUMNSxi1>
        %bits = tile.reshape %wide : tensor<1x$COLUMNSxi1> -> !bits
        %isCover = tile.load %C[%t] : !view -> !bits
        %isOutside = arith.xori %isCover, %true : !bits
        %left = arith.andi %bits, %isOutside : !bits
        %x = arith.extui %left : !bits to !bytes
        %n = arith.addi %few, %x : !bytes
        scf.yield %n : !bytes
      }
      %n = arith.extui %part : !bytes to !counts
      %new = arith.addi %sum, %n : !counts
      scf.yield %new : !counts
    }
    %number = tile.reduce {arith.addi} %outside axes [0] : !counts -> $P
    memref.store %number, %rest[%row] : memref<?x$P>
  }
  tile.return
}
