// Rows of bytes by codes, 16 columns at a time, row after row: lanes run along k. A vector of sums of four neighbours has
// the $TOGETHER groups of 64 codes, or a group has $PIECES such vectors. The lanes of 16 columns are added up at once, which gives
// a vector along n for each group; $LANES = 16 / $TOGETHER.
//   type $RESULTS = !tile.buffer<8x16xf32, #tile.layout<offset [16:d1, 8:d0]>, local>
//   type $RESULT = !tile.buffer<1x16xf32, #tile.layout<offset [16:d1]>, local>
//   integer $ROUNDS = 4, $PIECES = 1, $TOGETHER = 2, $LANES = 8
// @begin, @end: what is read for a block of columns, and stored of it. @multiply: sums, the row's products by a vector of
// codes added. @add: a row's results, the terms of a round's groups added in order.
func.func private @begin(index)
func.func private @multiply(index, index, index, tensor<16x16xi32>) -> tensor<16x16xi32>
func.func private @add(index, index, index, tensor<$TOGETHERx16xi32>, tensor<16xf32>) -> tensor<16xf32>
func.func private @end(index)
func.func @dots(%rows: index, %columns: index, %results: $RESULTS) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %rounds = arith.constant $ROUNDS : index
  %pieces = arith.constant $PIECES : index
  %none = arith.constant dense<0> : tensor<16x16xi32>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  scf.for %column = %c0 to %columns step %c16 {
    func.call @begin(%column) : (index) -> ()
    scf.for %row = %c0 to %rows step %c1 {
      %result = scf.for %round = %c0 to %rounds step %c1 iter_args(%r = %zero) -> (tensor<16xf32>) {
        %first = arith.muli %round, %pieces : index
        %sums = scf.for %piece = %c0 to %pieces step %c1 iter_args(%s = %none) -> (tensor<16x16xi32>) {
          %vector = arith.addi %first, %piece : index
          %more = func.call @multiply(%row, %column, %vector, %s) : (index, index, index, tensor<16x16xi32>) -> tensor<16x16xi32>
          scf.yield %more : tensor<16x16xi32>
        }
        %turned = tile.transpose %sums [1, 0] : tensor<16x16xi32> -> tensor<16x16xi32>
        %lanes = tile.reshape %turned : tensor<16x16xi32> -> tensor<$TOGETHERx$LANESx16xi32>
        %dots = tile.reduce {arith.addi} %lanes axes [1] : tensor<$TOGETHERx$LANESx16xi32> -> tensor<$TOGETHERx16xi32>
        %added = func.call @add(%row, %column, %round, %dots, %r) : (index, index, index, tensor<$TOGETHERx16xi32>, tensor<16xf32>) -> tensor<16xf32>
        scf.yield %added : tensor<16xf32>
      }
      %line = tile.reshape %result : tensor<16xf32> -> tensor<1x16xf32>
      %place = tile.slice %results[%row, 0] : $RESULTS -> $RESULT
      tile.store %line, %place : tensor<1x16xf32>, $RESULT
    }
    func.call @end(%column) : (index) -> ()
  }
  return
}
