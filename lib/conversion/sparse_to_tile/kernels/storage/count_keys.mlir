// Where the entries of each key begin once they are sorted by it, and the last end; those of key -1 are left out.
tile.kernel @kernel(%key: memref<?xi64>, %pos: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = memref.dim %key, %c0 : memref<?xi64>
  %ends = memref.dim %pos, %c0 : memref<?xi64>
  scf.for %i = %c0 to %ends step %c1 {
    memref.store %zero, %pos[%i] : memref<?xi64>
  }
  scf.for %e = %c0 to %n step %c1 {
    %k = memref.load %key[%e] : memref<?xi64>
    %stored = arith.cmpi sge, %k, %zero : i64
    scf.if %stored {
      %line = arith.index_cast %k : i64 to index
      %at = arith.addi %line, %c1 : index
      %old = memref.load %pos[%at] : memref<?xi64>
      %new = arith.addi %old, %one : i64
      memref.store %new, %pos[%at] : memref<?xi64>
    }
  }
  %all = scf.for %i = %c1 to %ends step %c1 iter_args(%sum = %zero) -> (i64) {
    %here = memref.load %pos[%i] : memref<?xi64>
    %new = arith.addi %sum, %here : i64
    memref.store %new, %pos[%i] : memref<?xi64>
    scf.yield %new : i64
  }
  tile.return
}
