// How many places of a line are taken; entries at one place stand together.
tile.func private @check(i1)
tile.kernel @kernel(%pos: memref<?xi64>, %crd: memref<?xi64>, %count: memref<?xi64>) {
  %row = tile.program_id 0
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %minus = arith.constant -1 : i64
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?xi64>
  %p1 = memref.load %pos[%next] : memref<?xi64>
  %begin = arith.index_cast %p0 : i64 to index
  %end = arith.index_cast %p1 : i64 to index
  %all, %last = scf.for %e = %begin to %end step %c1 iter_args(%sum = %zero, %before = %minus) -> (i64, i64) {
    %at = memref.load %crd[%e] : memref<?xi64>
    %differs = arith.cmpi ne, %at, %before : i64
    tile.call @check(%differs) : (i1) -> ()
    %more = arith.addi %sum, %one : i64
    %new = arith.select %differs, %more, %sum : i64
    scf.yield %new, %at : i64, i64
  }
  memref.store %all, %count[%row] : memref<?xi64>
  tile.return
}
