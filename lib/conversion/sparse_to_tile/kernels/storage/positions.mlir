// Where each segment begins, and the last ends: the sums of the counts before.
//   type $P = i32
tile.kernel @kernel(%count: memref<?x$P>, %pos: memref<?x$P>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : $P
  %n = memref.dim %count, %c0 : memref<?x$P>
  memref.store %zero, %pos[%c0] : memref<?x$P>
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> ($P) {
    %here = memref.load %count[%i] : memref<?x$P>
    %new = arith.addi %sum, %here : $P
    %next = arith.addi %i, %c1 : index
    memref.store %new, %pos[%next] : memref<?x$P>
    scf.yield %new : $P
  }
  tile.return
}
