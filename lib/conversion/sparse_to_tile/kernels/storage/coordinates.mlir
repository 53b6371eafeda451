// The entries of a line by row and column.
//   type $P = i32, $I = i32, $TO = i32
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %out: memref<2x?x$TO>) {
  %row = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %r = arith.index_cast %row : index to $TO
  scf.for %e = %begin to %end step %c1 {
    %at = memref.load %crd[%e] : memref<?x$I>
    %column = arith.index_cast %at : $I to index
    %c = arith.index_cast %column : index to $TO
    memref.store %r, %out[%c0, %e] : memref<2x?x$TO>
    memref.store %c, %out[%c1, %e] : memref<2x?x$TO>
  }
  tile.return
}
