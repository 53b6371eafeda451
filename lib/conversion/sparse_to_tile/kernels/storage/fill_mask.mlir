// The entries of a row of tiles, and which tiles hold one; both are zero before.
//   type $P = i32, $I = i32, $E = f32
//   integer $HEIGHT = 32, $WIDTH = 32
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %val: memref<?x$E>, %mask: memref<?x?xi1>, %out: memref<?x?x$E>) {
  %line = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %height = arith.constant $HEIGHT : index
  %width = arith.constant $WIDTH : index
  %true = arith.constant true
  %ends = memref.dim %pos, %c0 : memref<?x$P>
  %rows = arith.subi %ends, %c1 : index
  %first = arith.muli %line, %height : index
  %past = arith.addi %first, %height : index
  %last = arith.minsi %past, %rows : index
  scf.for %row = %first to %last step %c1 {
    %after = arith.addi %row, %c1 : index
    %p0 = memref.load %pos[%row] : memref<?x$P>
    %p1 = memref.load %pos[%after] : memref<?x$P>
    %begin = arith.index_cast %p0 : $P to index
    %end = arith.index_cast %p1 : $P to index
    scf.for %e = %begin to %end step %c1 {
      %at = memref.load %crd[%e] : memref<?x$I>
      %column = arith.index_cast %at : $I to index
      %tile = arith.divui %column, %width : index
      %v = memref.load %val[%e] : memref<?x$E>
      memref.store %true, %mask[%line, %tile] : memref<?x?xi1>
      memref.store %v, %out[%row, %column] : memref<?x?x$E>
    }
  }
  tile.return
}
