// The position of each entry in a dense level.
tile.kernel @kernel(%parent: memref<?xi64>, %coordinate: memref<?xi64>, %size: index, %position: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %position, %c0 : memref<?xi64>
  %wide = arith.index_cast %size : index to i64
  scf.for %e = %c0 to %n step %c1 {
    %p = memref.load %parent[%e] : memref<?xi64>
    %c = memref.load %coordinate[%e] : memref<?xi64>
    %begin = arith.muli %p, %wide : i64
    %at = arith.addi %begin, %c : i64
    memref.store %at, %position[%e] : memref<?xi64>
  }
  tile.return
}
