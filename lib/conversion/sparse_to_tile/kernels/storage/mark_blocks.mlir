// Which blocks of a row of them hold an entry.
//   type $P = i32, $I = i32
//   integer $HEIGHT = 32, $WIDTH = 32
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %marks: memref<?x?xi32>) {
  %line = tile.program_id 0
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %height = arith.constant $HEIGHT : index
  %width = arith.constant $WIDTH : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ends = memref.dim %pos, %c0 : memref<?x$P>
  %rows = arith.subi %ends, %c1 : index
  %blocks = memref.dim %marks, %c1 : memref<?x?xi32>
  scf.for %b = %c0 to %blocks step %c1 {
    memref.store %zero, %marks[%line, %b] : memref<?x?xi32>
  }
  %first = arith.muli %line, %height : index
  %past = arith.addi %first, %height : index
  %last = arith.minsi %past, %rows : index
  %p0 = memref.load %pos[%first] : memref<?x$P>
  %p1 = memref.load %pos[%last] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  scf.for %e = %begin to %end step %c1 {
    %at = memref.load %crd[%e] : memref<?x$I>
    %column = arith.index_cast %at : $I to index
    %block = arith.divui %column, %width : index
    memref.store %one, %marks[%line, %block] : memref<?x?xi32>
  }
  tile.return
}
