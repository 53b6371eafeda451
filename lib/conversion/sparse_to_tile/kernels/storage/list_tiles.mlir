// The tiles of a row of tiles that a mask names, one after another from where the row begins, one at a time.
//   type $P = i32, $I = i32
tile.kernel @kernel(%mask: memref<?x?xi1>, %pos: memref<?x$P>, %crd: memref<?x$I>) {
  %line = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tiles = memref.dim %mask, %c1 : memref<?x?xi1>
  %p0 = memref.load %pos[%line] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = scf.for %t = %c0 to %tiles step %c1 iter_args(%at = %begin) -> (index) {
    %some = memref.load %mask[%line, %t] : memref<?x?xi1>
    %next = arith.addi %at, %c1 : index
    scf.if %some {
      %tile = arith.index_cast %t : index to $I
      memref.store %tile, %crd[%at] : memref<?x$I>
    }
    %after = arith.select %some, %next, %at : index
    scf.yield %after : index
  }
  tile.return
}
