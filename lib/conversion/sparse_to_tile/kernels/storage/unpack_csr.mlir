// The entries of a segment into a matrix of zeros.
//   type $E = f32, $P = i32, $I = i32
tile.func private @put($E, memref<?x?x$E>, index, index)
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %val: memref<?x$E>, %d: memref<?x?x$E>) {
  %row = tile.program_id 0
  %c1 = arith.constant 1 : index
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  scf.for %e = %begin to %end step %c1 {
    %at = memref.load %crd[%e] : memref<?x$I>
    %column = arith.index_cast %at : $I to index
    %v = memref.load %val[%e] : memref<?x$E>
    tile.call @put(%v, %d, %row, %column) : ($E, memref<?x?x$E>, index, index) -> ()
  }
  tile.return
}
