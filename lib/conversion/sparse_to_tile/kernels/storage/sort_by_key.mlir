// Entries in the order of their keys, those of one key as they stood. One program: each finds the next free place.
//   type $E = f32
tile.kernel @kernel(%key: memref<?xi64>, %other: memref<?xi64>, %val: memref<?x$E>, %pos: memref<?xi64>, %free: memref<?xi64>, %keys: memref<?xi64>, %others: memref<?xi64>, %vals: memref<?x$E>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = memref.dim %key, %c0 : memref<?xi64>
  %ends = memref.dim %pos, %c0 : memref<?xi64>
  scf.for %i = %c0 to %ends step %c1 {
    %p = memref.load %pos[%i] : memref<?xi64>
    memref.store %p, %free[%i] : memref<?xi64>
  }
  scf.for %e = %c0 to %n step %c1 {
    %k = memref.load %key[%e] : memref<?xi64>
    %stored = arith.cmpi sge, %k, %zero : i64
    scf.if %stored {
      %line = arith.index_cast %k : i64 to index
      %p = memref.load %free[%line] : memref<?xi64>
      %next = arith.addi %p, %one : i64
      memref.store %next, %free[%line] : memref<?xi64>
      %at = arith.index_cast %p : i64 to index
      %o = memref.load %other[%e] : memref<?xi64>
      %v = memref.load %val[%e] : memref<?x$E>
      memref.store %k, %keys[%at] : memref<?xi64>
      memref.store %o, %others[%at] : memref<?xi64>
      memref.store %v, %vals[%at] : memref<?x$E>
    }
  }
  tile.return
}
