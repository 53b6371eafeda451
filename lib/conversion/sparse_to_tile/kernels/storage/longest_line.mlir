// The most entries that a line has.
//   type $P = i32
tile.kernel @kernel(%pos: memref<?x$P>, %longest: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : $P
  %ends = memref.dim %pos, %c0 : memref<?x$P>
  %lines = arith.subi %ends, %c1 : index
  %most = scf.for %i = %c0 to %lines step %c1 iter_args(%m = %zero) -> ($P) {
    %next = arith.addi %i, %c1 : index
    %p0 = memref.load %pos[%i] : memref<?x$P>
    %p1 = memref.load %pos[%next] : memref<?x$P>
    %length = arith.subi %p1, %p0 : $P
    %new = arith.maxsi %m, %length : $P
    scf.yield %new : $P
  }
  %at = arith.index_cast %most : $P to index
  %result = arith.index_cast %at : index to i64
  memref.store %result, %longest[%c0] : memref<?xi64>
  tile.return
}
