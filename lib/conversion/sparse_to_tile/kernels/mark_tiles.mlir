// Which micro-tiles of a row of them hold something, $UNITS at a time. What is looked at are cells of $HEIGHT x $WIDTH
// elements: single ones, or the tiles of a mask, which micro-tiles need not keep to.
tile.kernel @kernel(%d: memref<?x?x$E>, %rows: index, %columns: index, %height: index, %width: index, %units: index, %marks: memref<?x?xi32>) {
  %line = tile.program_id 0
  %chunk = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cellHeight = arith.constant $HEIGHT : index
  %cellWidth = arith.constant $WIDTH : index
  %some = arith.constant $UNITS : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %empty = arith.constant $ZERO : $E
  %u0 = arith.muli %chunk, %some : index
  %u1 = arith.addi %u0, %some : index
  %u2 = arith.minsi %u1, %units : index
  scf.for %u = %u0 to %u2 step %c1 {
    memref.store %zero, %marks[$PLACE] : memref<?x?xi32>
  }
  %r0 = arith.muli %line, %height : index
  %r1 = arith.addi %r0, %height : index
  %r2 = arith.minsi %r1, %rows : index
  %top = arith.divui %r0, %cellHeight : index
  %bottom = arith.ceildivui %r2, %cellHeight : index
  scf.for %r = %top to %bottom step %c1 {
    scf.for %u = %u0 to %u2 step %c1 {
      %x0 = arith.muli %u, %width : index
      %x1 = arith.addi %x0, %width : index
      %x2 = arith.minsi %x1, %columns : index
      %left = arith.divui %x0, %cellWidth : index
      %right = arith.ceildivui %x2, %cellWidth : index
      scf.for %x = %left to %right step %c1 {
        %v = memref.load %d[%r, %x] : memref<?x?x$E>
        %is = $DIFFERS %v, %empty : $E
        scf.if %is {
          memref.store %one, %marks[$PLACE] : memref<?x?xi32>
        }
      }
    }
  }
  tile.return
}
