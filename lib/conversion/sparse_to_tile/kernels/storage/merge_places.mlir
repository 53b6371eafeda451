// Adds up the entries of a line that stand at one place.
//   type $E = f32
//   op $ADD = arith.addf
tile.kernel @kernel(%pos: memref<?xi64>, %crd: memref<?xi64>, %val: memref<?x$E>, %to: memref<?xi64>, %crds: memref<?xi64>, %vals: memref<?x$E>) {
  %row = tile.program_id 0
  %c1 = arith.constant 1 : index
  %minus = arith.constant -1 : i64
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?xi64>
  %p1 = memref.load %pos[%next] : memref<?xi64>
  %t0 = memref.load %to[%row] : memref<?xi64>
  %begin = arith.index_cast %p0 : i64 to index
  %end = arith.index_cast %p1 : i64 to index
  %first = arith.index_cast %t0 : i64 to index
  %zero = arith.constant 0x0 : $E
  %all, %last, %value = scf.for %e = %begin to %end step %c1 iter_args(%free = %first, %before = %minus, %sum = %zero) -> (index, i64, $E) {
    %at = memref.load %crd[%e] : memref<?xi64>
    %v = memref.load %val[%e] : memref<?x$E>
    %same = arith.cmpi eq, %at, %before : i64
    %back = arith.subi %free, %c1 : index
    %place = arith.select %same, %back, %free : index
    %total = $ADD %sum, %v : $E
    %new = arith.select %same, %total, %v : $E
    memref.store %at, %crds[%place] : memref<?xi64>
    memref.store %new, %vals[%place] : memref<?x$E>
    %after = arith.addi %place, %c1 : index
    scf.yield %after, %at, %new : index, i64, $E
  }
  tile.return
}
