// Row and column of each element of a row; -1 where the mask is false.
//   integer $HEIGHT = 32, $WIDTH = 32
tile.kernel @kernel(%mask: memref<?x?xi1>, %columns: index, %row: memref<?xi64>, %column: memref<?xi64>) {
  %r = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %height = arith.constant $HEIGHT : index
  %width = arith.constant $WIDTH : index
  %minus = arith.constant -1 : i64
  %tileRow = arith.divui %r, %height : index
  %first = arith.muli %r, %columns : index
  %rw = arith.index_cast %r : index to i64
  scf.for %c = %c0 to %columns step %c1 {
    %tileColumn = arith.divui %c, %width : index
    %is = memref.load %mask[%tileRow, %tileColumn] : memref<?x?xi1>
    %cw = arith.index_cast %c : index to i64
    %rs = arith.select %is, %rw, %minus : i64
    %cs = arith.select %is, %cw, %minus : i64
    %slot = arith.addi %first, %c : index
    memref.store %rs, %row[%slot] : memref<?xi64>
    memref.store %cs, %column[%slot] : memref<?xi64>
  }
  tile.return
}
