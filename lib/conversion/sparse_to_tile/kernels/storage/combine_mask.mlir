// $LINES rows of a mask become one: whether one of them has the column, and how many columns some of them have, but not
// all. Rows beyond the mask are none of them.
//   type $P = i32
//   integer $LINES = 32, $COLUMNS = 256
!bits = tensor<$COLUMNSxi1>
!bytes = tensor<$COLUMNSxi8>
tile.kernel @kernel(%mask: memref<?x?xi1>, %any: memref<?x?xi1>, %some: memref<?x$P>) {
  %line = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lines = arith.constant $LINES : index
  %rows = memref.dim %mask, %c0 : memref<?x?xi1>
  %begin = arith.muli %line, %lines : index
  %after = arith.addi %begin, %lines : index
  %end = arith.minsi %after, %rows : index
  %A = tile.view %any[%line, _] : memref<?x?xi1> to !tile.view<$COLUMNSxi1>
  %tiles = tile.num_tiles %A dim 0 : !tile.view<$COLUMNSxi1>
  %M = tile.view %mask : memref<?x?xi1> to !tile.view<1x$COLUMNSxi1>
  %no = arith.constant dense<0> : !bytes
  %yes = arith.constant dense<1> : !bytes
  %zero = arith.constant dense<0> : tensor<$COLUMNSx$P>
  %counts = scf.for %t = %c0 to %tiles step %c1 iter_args(%sum = %zero) -> (tensor<$COLUMNSx$P>) {
    %one, %all = scf.for %row = %begin to %end step %c1 iter_args(%or = %no, %and = %yes) -> (!bytes, !bytes) {
      %wide = tile.load %M[%row, %t] : !tile.view<1x$COLUMNSxi1> -> tensor<1x$COLUMNSxi1>
      %bits = tile.reshape %wide : tensor<1x$COLUMNSxi1> -> !bits
      %x = arith.extui %bits : !bits to !bytes
      %o = arith.ori %or, %x : !bytes
      %a = arith.andi %and, %x : !bytes
      scf.yield %o, %a : !bytes, !bytes
    }
    %isOne = arith.cmpi ne, %one, %no : !bytes
    tile.store %isOne, %A[%t] : !bits, !tile.view<$COLUMNSxi1>
    %hasSome = arith.cmpi ne, %one, %all : !bytes
    %n = arith.extui %hasSome : !bits to tensor<$COLUMNSx$P>
    %new = arith.addi %sum, %n : tensor<$COLUMNSx$P>
    scf.yield %new : tensor<$COLUMNSx$P>
  }
  %total = tile.reduce {arith.addi} %counts axes [0] : tensor<$COLUMNSx$P> -> $P
  memref.store %total, %some[%line] : memref<?x$P>
  tile.return
}
