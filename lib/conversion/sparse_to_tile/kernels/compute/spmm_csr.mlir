// A row of the result per program, $COLUMNS of its columns at a time: rows of b, scaled and added up.
//   type $MATRIX = memref<?x?xf32>, $E = f32, $A = f32, $P = i32, $I = i32
//   op $WIDEN = arith.bitcast
//   integer $COLUMNS = 32
!row = tensor<$COLUMNSx$A>
tile.func private @row($MATRIX, index, index) -> tensor<$COLUMNSx$E>
tile.func private @step(!row, !row, !row) -> !row
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %val: memref<?x$E>, %b: $MATRIX, %c: memref<?x?x$A>) {
  %row = tile.program_id 0
  %col = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %C = tile.view %c[%row, _] : memref<?x?x$A> to !tile.view<$COLUMNSx$A>
  %init = tile.load %C[%col] {tile.initial} : !tile.view<$COLUMNSx$A> -> !row
  %sum = scf.for %e = %begin to %end step %c1 iter_args(%acc = %init) -> (!row) {
    %at = memref.load %crd[%e] : memref<?x$I>
    %k = arith.index_cast %at : $I to index
    %v = memref.load %val[%e] : memref<?x$E>
    %y = tile.call @row(%b, %k, %col) : ($MATRIX, index, index) -> tensor<$COLUMNSx$E>
    %wide = $WIDEN %v : $E to $A
    %lhs = tile.broadcast %wide axes [] : $A -> !row
    %rhs = $WIDEN %y : tensor<$COLUMNSx$E> to !row
    %new = tile.call @step(%acc, %lhs, %rhs) : (!row, !row, !row) -> !row
    scf.yield %new : !row
  }
  tile.store %sum, %C[%col] {tile.final} : !row, !tile.view<$COLUMNSx$A>
  tile.return
}
