// 0, 1, 2, …
tile.kernel @kernel(%order: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %order, %c0 : memref<?xi64>
  scf.for %e = %c0 to %n step %c1 {
    %number = arith.index_cast %e : index to i64
    memref.store %number, %order[%e] : memref<?xi64>
  }
  tile.return
}
