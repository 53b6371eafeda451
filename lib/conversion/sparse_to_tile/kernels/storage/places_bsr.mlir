// Row and column of each element of a row of blocks; -1 beyond the matrix.
//   type $P = i32, $I = i32
//   integer $HEIGHT = 32, $WIDTH = 32
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %rows: index, %columns: index, %row: memref<?xi64>, %column: memref<?xi64>) {
  %line = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %height = arith.constant $HEIGHT : index
  %width = arith.constant $WIDTH : index
  %minus = arith.constant -1 : i64
  %next = arith.addi %line, %c1 : index
  %p0 = memref.load %pos[%line] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %first = arith.muli %line, %height : index
  scf.for %e = %begin to %end step %c1 {
    %at = memref.load %crd[%e] : memref<?x$I>
    %block = arith.index_cast %at : $I to index
    %left = arith.muli %block, %width : index
    scf.for %i = %c0 to %height step %c1 {
      scf.for %j = %c0 to %width step %c1 {
        %r = arith.addi %first, %i : index
        %c = arith.addi %left, %j : index
        %inRows = arith.cmpi slt, %r, %rows : index
        %inColumns = arith.cmpi slt, %c, %columns : index
        %inside = arith.andi %inRows, %inColumns : i1
        %rw = arith.index_cast %r : index to i64
        %cw = arith.index_cast %c : index to i64
        %rs = arith.select %inside, %rw, %minus : i64
        %cs = arith.select %inside, %cw, %minus : i64
        %down = arith.muli %e, %height : index
        %lines = arith.addi %down, %i : index
        %across = arith.muli %lines, %width : index
        %slot = arith.addi %across, %j : index
        memref.store %rs, %row[%slot] : memref<?xi64>
        memref.store %cs, %column[%slot] : memref<?xi64>
      }
    }
  }
  tile.return
}
