// The positions of sorted entries in a level that has $N places for each parent; %coordinates is zero before.
//   integer $N = 2
tile.kernel @kernel(%parent: memref<?xi64>, %coordinate: memref<?xi64>, %coordinates: memref<?xi64>, %position: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %none = arith.constant -1 : i64
  %places = arith.constant $N : i64
  %n = memref.dim %position, %c0 : memref<?xi64>
  %p0, %k0 = scf.for %e = %c0 to %n step %c1 iter_args(%before = %none, %taken = %zero) -> (i64, i64) {
    %p = memref.load %parent[%e] : memref<?xi64>
    %c = memref.load %coordinate[%e] : memref<?xi64>
    %same = arith.cmpi eq, %p, %before : i64
    %k = arith.select %same, %taken, %zero : i64
    %fits = arith.cmpi slt, %k, %places : i64
    tile.assert %fits, "a window stores more elements than its format keeps" : i1
    %begin = arith.muli %p, %places : i64
    %at = arith.addi %begin, %k : i64
    %slot = arith.index_cast %at : i64 to index
    memref.store %c, %coordinates[%slot] : memref<?xi64>
    memref.store %at, %position[%e] : memref<?xi64>
    %next = arith.addi %k, %one : i64
    scf.yield %p, %next : i64, i64
  }
  tile.return
}
