// The positions of sorted entries in a level of segments, one for each place or (with $MERGES 0) for each entry. %begins
// is zero before; %total: how many there are.
//   integer $MERGES = 1
tile.kernel @kernel(%parent: memref<?xi64>, %coordinate: memref<?xi64>, %begins: memref<?xi64>, %coordinates: memref<?xi64>, %position: memref<?xi64>, %total: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %none = arith.constant -1 : i64
  %merges = arith.constant $MERGES : i1
  %n = memref.dim %position, %c0 : memref<?xi64>
  %ends = memref.dim %begins, %c0 : memref<?xi64>
  %count, %p0, %q0 = scf.for %e = %c0 to %n step %c1 iter_args(%free = %zero, %before = %none, %last = %none) -> (i64, i64, i64) {
    %p = memref.load %parent[%e] : memref<?xi64>
    %c = memref.load %coordinate[%e] : memref<?xi64>
    %sameParent = arith.cmpi eq, %p, %before : i64
    %sameCoordinate = arith.cmpi eq, %c, %last : i64
    %samePlace = arith.andi %sameParent, %sameCoordinate : i1
    %same = arith.andi %samePlace, %merges : i1
    %next = arith.addi %free, %one : i64
    %after = arith.select %same, %free, %next : i64
    %at = arith.subi %after, %one : i64
    memref.store %at, %position[%e] : memref<?xi64>
    %slot = arith.index_cast %at : i64 to index
    memref.store %c, %coordinates[%slot] : memref<?xi64>
    %line = arith.index_cast %p : i64 to index
    %end = arith.addi %line, %c1 : index
    memref.store %after, %begins[%end] : memref<?xi64>
    scf.yield %after, %p, %c : i64, i64, i64
  }
  %most0 = scf.for %i = %c0 to %ends step %c1 iter_args(%most = %zero) -> (i64) {
    %here = memref.load %begins[%i] : memref<?xi64>
    %more = arith.maxsi %here, %most : i64
    memref.store %more, %begins[%i] : memref<?xi64>
    scf.yield %more : i64
  }
  memref.store %count, %total[%c0] : memref<?xi64>
  tile.return
}
