// The two coordinates of an entry.
//   type $I = i32
tile.kernel @kernel(%crd: memref<2x?x$I>, %row: memref<?xi64>, %column: memref<?xi64>) {
  %e = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.load %crd[%c0, %e] : memref<2x?x$I>
  %c = memref.load %crd[%c1, %e] : memref<2x?x$I>
  %ri = arith.index_cast %r : $I to index
  %ci = arith.index_cast %c : $I to index
  %rw = arith.index_cast %ri : index to i64
  %cw = arith.index_cast %ci : index to i64
  memref.store %rw, %row[%e] : memref<?xi64>
  memref.store %cw, %column[%e] : memref<?xi64>
  tile.return
}
