// The order of entries by one coordinate; entries of one coordinate stay in the order they had. %free has a place for
// each coordinate and one more, zero before.
tile.kernel @kernel(%order: memref<?xi64>, %coordinate: memref<?xi64>, %free: memref<?xi64>, %sorted: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = memref.dim %sorted, %c0 : memref<?xi64>
  %sizes = memref.dim %free, %c0 : memref<?xi64>
  scf.for %e = %c0 to %n step %c1 {
    %c = memref.load %coordinate[%e] : memref<?xi64>
    %at = arith.index_cast %c : i64 to index
    %after = arith.addi %at, %c1 : index
    %count = memref.load %free[%after] : memref<?xi64>
    %more = arith.addi %count, %one : i64
    memref.store %more, %free[%after] : memref<?xi64>
  }
  %all = scf.for %i = %c0 to %sizes step %c1 iter_args(%sum = %zero) -> (i64) {
    %here = memref.load %free[%i] : memref<?xi64>
    %new = arith.addi %sum, %here : i64
    memref.store %new, %free[%i] : memref<?xi64>
    scf.yield %new : i64
  }
  scf.for %e = %c0 to %n step %c1 {
    %o = memref.load %order[%e] : memref<?xi64>
    %from = arith.index_cast %o : i64 to index
    %c = memref.load %coordinate[%from] : memref<?xi64>
    %at = arith.index_cast %c : i64 to index
    %p = memref.load %free[%at] : memref<?xi64>
    %next = arith.addi %p, %one : i64
    memref.store %next, %free[%at] : memref<?xi64>
    %to = arith.index_cast %p : i64 to index
    memref.store %o, %sorted[%to] : memref<?xi64>
  }
  tile.return
}
