// Packs a program's rows of x, bytes that are multiplied by codes. Row (vector * $ROWS + row) of %packed has the words of
// four bytes that meet vector `vector` of codes, $WIDTH = 16 words for each part of a byte. A vector has $TOGETHER groups, or a
// group has $PIECES vectors. Rows from %rows to %all are zeros.
//   type $PACKED = !tile.buffer<32x32xi32, #tile.layout<offset [32:d1, 32:d0]>, local>
//   type $PLACE = !tile.buffer<1x8xi32, #tile.layout<offset [8:d1]>, local>
//   type $LINE = !tile.buffer<1x32xi32, #tile.layout<offset [32:d1]>, local>
//   integer $ROWS = 8, $GROUPS = 4, $TOGETHER = 2, $VECTORS = 2, $PIECES = 1, $PARTS = 2, $BYTES = 32, $WORDS = 8, $WIDTH = 32
// @x: bytes of a row: of a group, a piece of it, and a part. @keep: takes the sums of a row's group, lane by lane.
func.func private @x(index, index, index, index) -> tensor<$BYTESxi8>
func.func private @keep(index, index, tensor<$BYTESxi32>)
func.func @pack(%rows: index, %all: index, %packed: $PACKED) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lanes = arith.constant 16 : index
  %stride = arith.constant $ROWS : index
  %groups = arith.constant $GROUPS : index
  %together = arith.constant $TOGETHER : index
  %vectors = arith.constant $VECTORS : index
  %pieces = arith.constant $PIECES : index
  %parts = arith.constant $PARTS : index
  %words = arith.constant $WORDS : index
  %none = arith.constant dense<0> : tensor<$BYTESxi32>
  %zeros = arith.constant dense<0> : tensor<1x$WIDTHxi32>
  scf.for %row = %c0 to %rows step %c1 {
    scf.for %group = %c0 to %groups step %c1 {
      %begin = arith.muli %group, %pieces : index
      %first = arith.divui %begin, %together : index
      %inside = arith.remui %group, %together : index
      %word0 = arith.muli %inside, %words : index
      %sum = scf.for %piece = %c0 to %pieces step %c1 iter_args(%before = %none) -> (tensor<$BYTESxi32>) {
        %vector = arith.addi %first, %piece : index
        %line0 = arith.muli %vector, %stride : index
        %line = arith.addi %line0, %row : index
        %sums = scf.for %part = %c0 to %parts step %c1 iter_args(%s = %before) -> (tensor<$BYTESxi32>) {
          %bytes = func.call @x(%row, %group, %piece, %part) : (index, index, index, index) -> tensor<$BYTESxi8>
          %flat = tile.bitcast %bytes : tensor<$BYTESxi8> -> tensor<$WORDSxi32>
          %fours = tile.reshape %flat : tensor<$WORDSxi32> -> tensor<1x$WORDSxi32>
          %ahead = arith.muli %part, %lanes : index
          %word = arith.addi %ahead, %word0 : index
          %place = tile.slice %packed[%line, %word] : $PACKED -> $PLACE
          tile.store %fours, %place : tensor<1x$WORDSxi32>, $PLACE
          %wide = arith.extsi %bytes : tensor<$BYTESxi8> to tensor<$BYTESxi32>
          %next = arith.addi %s, %wide : tensor<$BYTESxi32>
          scf.yield %next : tensor<$BYTESxi32>
        }
        scf.yield %sums : tensor<$BYTESxi32>
      }
      func.call @keep(%row, %group, %sum) : (index, index, tensor<$BYTESxi32>) -> ()
    }
  }
  scf.for %row = %rows to %all step %c1 {
    scf.for %vector = %c0 to %vectors step %c1 {
      %line0 = arith.muli %vector, %stride : index
      %line = arith.addi %line0, %row : index
      %place = tile.slice %packed[%line, 0] : $PACKED -> $LINE
      tile.store %zeros, %place : tensor<1x$WIDTHxi32>, $LINE
    }
    scf.for %group = %c0 to %groups step %c1 {
      func.call @keep(%row, %group, %none) : (index, index, tensor<$BYTESxi32>) -> ()
    }
  }
  return
}
