// Elements from their places.
//   type $E = f32
tile.kernel @kernel(%place: memref<?xi64>, %from: memref<?x$E>, %to: memref<?x$E>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %place, %c0 : memref<?xi64>
  scf.for %e = %c0 to %n step %c1 {
    %p = memref.load %place[%e] : memref<?xi64>
    %at = arith.index_cast %p : i64 to index
    %v = memref.load %from[%at] : memref<?x$E>
    memref.store %v, %to[%e] : memref<?x$E>
  }
  tile.return
}
