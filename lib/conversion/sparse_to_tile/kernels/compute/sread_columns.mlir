// Columns of $ROWS rows packed by a list of slices of them; zeros where the list names none of the matrix.
//   type $E = f32, $I = i32
//   integer $COLUMNS = 32, $BY = 2, $ROWS = 32
tile.kernel @kernel(%a: memref<?x?x$E>, %crd: memref<?x$I>, %packed: memref<?x?x$E>) {
  %block = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %width = arith.constant $COLUMNS : index
  %bys = arith.constant dense<$BY> : tensor<$COLUMNSxindex>
  %none = arith.constant dense<-1> : tensor<$COLUMNSx$I>
  %zeros = arith.constant dense<0x0> : tensor<$ROWSx$COLUMNSx$E>
  %lane = tile.iota dim 0 : tensor<$COLUMNSxindex>
  %A = tile.view %a : memref<?x?x$E> to !tile.view<$ROWSx$COLUMNSx$E>
  %P = tile.view %packed : memref<?x?x$E> to !tile.view<$ROWSx$COLUMNSx$E>
  %tiles = tile.num_tiles %P dim 1 : !tile.view<$ROWSx$COLUMNSx$E>
  scf.for %t = %c0 to %tiles step %c1 {
    %shift = arith.muli %t, %width : index
    %shifts = tile.broadcast %shift axes [] : index -> tensor<$COLUMNSxindex>
    %p = arith.addi %lane, %shifts : tensor<$COLUMNSxindex>
    %slot = arith.divui %p, %bys : tensor<$COLUMNSxindex>
    %j = arith.remui %p, %bys : tensor<$COLUMNSxindex>
    %c = tile.gather %crd[%slot] other %none bounds(drop) : memref<?x$I>[tensor<$COLUMNSxindex>] -> tensor<$COLUMNSx$I>
    %slice = arith.index_cast %c : tensor<$COLUMNSx$I> to tensor<$COLUMNSxindex>
    %first = arith.muli %slice, %bys : tensor<$COLUMNSxindex>
    %column = arith.addi %first, %j : tensor<$COLUMNSxindex>
    %x = tile.gather %A[%block, %column] other %zeros bounds(drop) : !tile.view<$ROWSx$COLUMNSx$E>[index, tensor<$COLUMNSxindex>] -> tensor<$ROWSx$COLUMNSx$E>
    tile.store %x, %P[%block, %t] : tensor<$ROWSx$COLUMNSx$E>, !tile.view<$ROWSx$COLUMNSx$E>
  }
  tile.return
}
