// The entries of a line combined, then with %out; a line without entries leaves it.
//   type $E = f32, $P = i32
//   op $ADD = arith.addf
tile.func private @finish($E, i64) -> $E
tile.kernel @kernel(%pos: memref<?x$P>, %val: memref<?x$E>, %out: memref<?x$E>) {
  %row = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0x0 : $E
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %total = scf.for %e = %begin to %end step %c1 iter_args(%acc = %zero) -> ($E) {
    %x = memref.load %val[%e] : memref<?x$E>
    %sum = $ADD %acc, %x : $E
    %first = arith.cmpi eq, %e, %begin : index
    %new = arith.select %first, %x, %sum : $E
    scf.yield %new : $E
  }
  %some = arith.cmpi slt, %begin, %end : index
  scf.if %some {
    %number = arith.subi %end, %begin : index
    %terms = arith.index_cast %number : index to i64
    %result = tile.call @finish(%total, %terms) : ($E, i64) -> $E
    %old = memref.load %out[%row] : memref<?x$E>
    %new = $ADD %old, %result : $E
    memref.store %new, %out[%row] : memref<?x$E>
  }
  tile.return
}
