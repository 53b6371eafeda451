// The elements of a row that are not zero, and their columns, one after another from where the row begins.
//   type $E = f32, $P = i32, $I = i32
//   integer $COLUMNS = 32
tile.func private @differs(tensor<$COLUMNSx$E>, tensor<$COLUMNSx$E>) -> tensor<$COLUMNSxi1>
tile.kernel @kernel(%d: memref<?x?x$E>, %pos: memref<?x$P>, %crd: memref<?x$I>, %val: memref<?x$E>) {
  %row = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %width = arith.constant $COLUMNS : index
  %D = tile.view %d[%row, _] : memref<?x?x$E> to !tile.view<$COLUMNSx$E>
  %tiles = tile.num_tiles %D dim 0 : !tile.view<$COLUMNSx$E>
  %zero = arith.constant dense<0x0> : tensor<$COLUMNSx$E>
  %lane = tile.iota dim 0 : tensor<$COLUMNSxindex>
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = scf.for %t = %c0 to %tiles step %c1 iter_args(%at = %begin) -> (index) {
    %x = tile.load %D[%t] : !tile.view<$COLUMNSx$E> -> tensor<$COLUMNSx$E>
    %some = tile.call @differs(%x, %zero) : (tensor<$COLUMNSx$E>, tensor<$COLUMNSx$E>) -> tensor<$COLUMNSxi1>
    %bits = arith.extui %some : tensor<$COLUMNSxi1> to tensor<$COLUMNSxi32>
    %one = arith.index_cast %bits : tensor<$COLUMNSxi32> to tensor<$COLUMNSxindex>
    %before = tile.scan {arith.addi} %one axis 0 exclusive : tensor<$COLUMNSxindex>
    %found = tile.reduce {arith.addi} %one axes [0] : tensor<$COLUMNSxindex> -> index
    %base = tile.broadcast %at axes [] : index -> tensor<$COLUMNSxindex>
    %place = arith.addi %base, %before : tensor<$COLUMNSxindex>
    %first = arith.muli %t, %width : index
    %shift = tile.broadcast %first axes [] : index -> tensor<$COLUMNSxindex>
    %column = arith.addi %lane, %shift : tensor<$COLUMNSxindex>
    %narrow = arith.index_cast %column : tensor<$COLUMNSxindex> to tensor<$COLUMNSx$I>
    tile.scatter %x, %val[%place] mask %some bounds(trap) : tensor<$COLUMNSx$E>, memref<?x$E>[tensor<$COLUMNSxindex>]
    tile.scatter %narrow, %crd[%place] mask %some bounds(trap) : tensor<$COLUMNSx$I>, memref<?x$I>[tensor<$COLUMNSxindex>]
    %next = arith.addi %at, %found : index
    scf.yield %next : index
  }
  tile.return
}
