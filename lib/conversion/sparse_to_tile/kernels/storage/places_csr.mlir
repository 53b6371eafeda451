// The line of each entry, and its place in it.
//   type $P = i32, $I = i32
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %line: memref<?xi64>, %place: memref<?xi64>) {
  %row = tile.program_id 0
  %c1 = arith.constant 1 : index
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %number = arith.index_cast %row : index to i64
  scf.for %e = %begin to %end step %c1 {
    %at = memref.load %crd[%e] : memref<?x$I>
    %column = arith.index_cast %at : $I to index
    %wide = arith.index_cast %column : index to i64
    memref.store %number, %line[%e] : memref<?xi64>
    memref.store %wide, %place[%e] : memref<?xi64>
  }
  tile.return
}
