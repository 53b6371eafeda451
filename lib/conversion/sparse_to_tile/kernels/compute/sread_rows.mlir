// A row of slices packed by a list of them; zeros where the list names none of the matrix.
//   type $E = f32, $I = i32
//   integer $BY = 2, $COLUMNS = 32
tile.kernel @kernel(%a: memref<?x?x$E>, %crd: memref<?x$I>, %packed: memref<?x?x$E>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %by = arith.constant $BY : index
  %rows = memref.dim %a, %c0 : memref<?x?x$E>
  %zeros = arith.constant dense<0x0> : tensor<$COLUMNSx$E>
  %slot = arith.divui %i, %by : index
  %j = arith.remui %i, %by : index
  %c = memref.load %crd[%slot] : memref<?x$I>
  %slice = arith.index_cast %c : $I to index
  %first = arith.muli %slice, %by : index
  %row = arith.addi %first, %j : index
  %isInside = arith.cmpi ult, %row, %rows : index
  %P = tile.view %packed[%i, _] : memref<?x?x$E> to !tile.view<$COLUMNSx$E>
  %tiles = tile.num_tiles %P dim 0 : !tile.view<$COLUMNSx$E>
  scf.if %isInside {
    %A = tile.view %a[%row, _] : memref<?x?x$E> to !tile.view<$COLUMNSx$E>
    scf.for %t = %c0 to %tiles step %c1 {
      %x = tile.load %A[%t] : !tile.view<$COLUMNSx$E> -> tensor<$COLUMNSx$E>
      tile.store %x, %P[%t] : tensor<$COLUMNSx$E>, !tile.view<$COLUMNSx$E>
    }
  } else {
    scf.for %t = %c0 to %tiles step %c1 {
      tile.store %zeros, %P[%t] : tensor<$COLUMNSx$E>, !tile.view<$COLUMNSx$E>
    }
  }
  tile.return
}
