// combine_mask, and a cover of what the mask names: micro-tiles of $LINES rows with more than $LEAST elements (`cover`,
// `covered`: how many are hidden in part), and for each row the number of elements outside of them (`rest`).
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
  %yes = arith.constant dense<1> : !bytes
  %least = arith.constant dense<$LEAST> : !bytes
  %zero = arith.constant dense<0> : !counts
  %true = arith.constant dense<1> : !bits
  %sums:2 = scf.for %t = %c0 to %tiles step %c1 iter_args(%sum = %zero, %inside = %zero) -> (!counts, !counts) {
    %one, %all, %number = scf.for %row = %begin to %end step %c1 iter_args(%or = %no, %and = %yes, %seen = %no) -> (!bytes, !bytes, !bytes) {
      %wide = tile.load %M[%row, %t] : !tile.view<1x$COLUMNSxi1> -> tensor<1x$COLUMNSxi1>
      %bits = tile.reshape %wide : tensor<1x$COLUMNSxi1> -> !bits
      %x = arith.extui %bits : !bits to !bytes
      %o = arith.ori %or, %x : !bytes
      %a = arith.andi %and, %x : !bytes
      %n = arith.addi %seen, %x : !bytes
      scf.yield %o, %a, %n : !bytes, !bytes, !bytes
    }
    %isOne = arith.cmpi ne, %one, %no : !bytes
    tile.store %isOne, %A[%t] : !bits, !view
    %isCover = arith.cmpi ugt, %number, %least : !bytes
    tile.store %isCover, %C[%t] : !bits, !view
    %hasSome = arith.cmpi ne, %one, %all : !bytes
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
    %outside = scf.for %t = %c0 to %tiles step %c1 iter_args(%sum = %zero) -> (!counts) {
      %wide = tile.load %M[%row, %t] : !tile.view<1x$COLUMNSxi1> -> tensor<1x$COLUMNSxi1>
      %bits = tile.reshape %wide : tensor<1x$COLUMNSxi1> -> !bits
      %isCover = tile.load %C[%t] : !view -> !bits
      %isOutside = arith.xori %isCover, %true : !bits
      %left = arith.andi %bits, %isOutside : !bits
      %n = arith.extui %left : !bits to !counts
      %new = arith.addi %sum, %n : !counts
      scf.yield %new : !counts
    }
    %number = tile.reduce {arith.addi} %outside axes [0] : !counts -> $P
    memref.store %number, %rest[%row] : memref<?x$P>
  }
  tile.return
}
