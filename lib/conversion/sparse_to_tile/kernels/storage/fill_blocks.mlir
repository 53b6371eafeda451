// The entries of a row of blocks into its blocks, which are zero; %slots: where each block is.
//   type $P = i32, $I = i32, $E = f32, $BP = i32, $BI = i32
//   integer $HEIGHT = 32, $WIDTH = 32
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %val: memref<?x$E>, %bpos: memref<?x$BP>, %bcrd: memref<?x$BI>, %slots: memref<?x?xi64>, %out: memref<?x$HEIGHTx$WIDTHx$E>) {
  %line = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %height = arith.constant $HEIGHT : index
  %width = arith.constant $WIDTH : index
  %next = arith.addi %line, %c1 : index
  %b0 = memref.load %bpos[%line] : memref<?x$BP>
  %b1 = memref.load %bpos[%next] : memref<?x$BP>
  %firstBlock = arith.index_cast %b0 : $BP to index
  %lastBlock = arith.index_cast %b1 : $BP to index
  scf.for %b = %firstBlock to %lastBlock step %c1 {
    %at = memref.load %bcrd[%b] : memref<?x$BI>
    %block = arith.index_cast %at : $BI to index
    %number = arith.index_cast %b : index to i64
    memref.store %number, %slots[%line, %block] : memref<?x?xi64>
  }
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
    %i = arith.subi %row, %first : index
    scf.for %e = %begin to %end step %c1 {
      %at = memref.load %crd[%e] : memref<?x$I>
      %column = arith.index_cast %at : $I to index
      %block = arith.divui %column, %width : index
      %j = arith.remui %column, %width : index
      %number = memref.load %slots[%line, %block] : memref<?x?xi64>
      %slot = arith.index_cast %number : i64 to index
      %v = memref.load %val[%e] : memref<?x$E>
      memref.store %v, %out[%slot, %i, %j] : memref<?x$HEIGHTx$WIDTHx$E>
    }
  }
  tile.return
}
