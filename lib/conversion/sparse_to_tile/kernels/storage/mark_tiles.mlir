// Which micro-tiles of a row of them hold something, $UNITS at a time. What is looked at are cells of $HEIGHT x $WIDTH
// elements: single ones, or the tiles of a mask, which micro-tiles need not keep to.
//   type $E = f32
//   integer $HEIGHT = 32, $WIDTH = 32, $UNITS = 4
tile.func private @differs($E, $E) -> i1
tile.func private @put(i32, memref<?x?xi32>, index, index)
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
  %empty = arith.constant 0x0 : $E
  %u0 = arith.muli %chunk, %some : index
  %u1 = arith.addi %u0, %some : index
  %u2 = arith.minsi %u1, %units : index
  scf.for %u = %u0 to %u2 step %c1 {
    tile.call @put(%zero, %marks, %line, %u) : (i32, memref<?x?xi32>, index, index) -> ()
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
        %is = tile.call @differs(%v, %empty) : ($E, $E) -> i1
        scf.if %is {
          tile.call @put(%one, %marks, %line, %u) : (i32, memref<?x?xi32>, index, index) -> ()
        }
      }
    }
  }
  tile.return
}
