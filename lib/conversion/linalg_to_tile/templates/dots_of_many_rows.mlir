// Rows of bytes by codes, $COLUMNS at a time: lanes run along n. The codes of a round ($TOGETHER groups of one vector, or
// $PIECES vectors of one group) are turned once for all rows by words of four neighbours; $SIDE rows have their sums in
// registers, and a word of a row is spread over the lanes.
//   type $RESULTS = !tile.buffer<8x16xf32, #tile.layout<offset [16:d1, 8:d0]>, local>
//   type $PLACE = !tile.buffer<4x16xf32, #tile.layout<offset [16:d1, 4:d0]>, local>
//   integer $ROWS = 8, $SIDE = 4, $COLUMNS = 16, $ROUNDS = 4, $PIECES = 1, $PARTS = 2, $TOGETHER = 2
// @begin, @end: what is read for a block of columns, and stored of it. @turn: makes a piece's codes. @start: what the sums
// of a group start from. @multiply: sums, the products by the words of one part of a piece added. @term: what is added to
// the results for a group.
func.func private @begin(index)
func.func private @turn(index, index, index)
func.func private @start(index, index, index) -> tensor<$SIDEx$COLUMNSxi32>
func.func private @multiply(index, index, index, index, tensor<$SIDEx$COLUMNSxi32>) -> tensor<$SIDEx$COLUMNSxi32>
func.func private @term(index, index, index, tensor<$SIDEx$COLUMNSxi32>) -> tensor<$SIDEx$COLUMNSxf32>
func.func private @end(index)
func.func @dots(%rows: index, %columns: index, %results: $RESULTS) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant $COLUMNS : index
  %side = arith.constant $SIDE : index
  %rounds = arith.constant $ROUNDS : index
  %pieces = arith.constant $PIECES : index
  %parts = arith.constant $PARTS : index
  %together = arith.constant $TOGETHER : index
  %all = arith.muli %pieces, %parts : index
  %zeros = arith.constant dense<0.0> : tensor<$ROWSx$COLUMNSxf32>
  scf.for %column = %c0 to %columns step %step {
    tile.store %zeros, %results : tensor<$ROWSx$COLUMNSxf32>, $RESULTS
    func.call @begin(%column) : (index) -> ()
    scf.for %round = %c0 to %rounds step %c1 {
      %first = arith.muli %round, %pieces : index
      %group0 = arith.muli %round, %together : index
      scf.for %piece = %c0 to %pieces step %c1 {
        %vector = arith.addi %first, %piece : index
        func.call @turn(%column, %vector, %piece) : (index, index, index) -> ()
      }
      scf.for %row = %c0 to %rows step %side {
        scf.for %inside = %c0 to %together step %c1 {
          %group = arith.addi %group0, %inside : index
          %start = func.call @start(%row, %column, %group) : (index, index, index) -> tensor<$SIDEx$COLUMNSxi32>
          %dots = scf.for %number = %c0 to %all step %c1 iter_args(%s = %start) -> (tensor<$SIDEx$COLUMNSxi32>) {
            %more = func.call @multiply(%row, %first, %number, %inside, %s) : (index, index, index, index, tensor<$SIDEx$COLUMNSxi32>) -> tensor<$SIDEx$COLUMNSxi32>
            scf.yield %more : tensor<$SIDEx$COLUMNSxi32>
          }
          %term = func.call @term(%row, %column, %group, %dots) : (index, index, index, tensor<$SIDEx$COLUMNSxi32>) -> tensor<$SIDEx$COLUMNSxf32>
          %place = tile.slice %results[%row, 0] : $RESULTS -> $PLACE
          %old = tile.load %place : $PLACE -> tensor<$SIDEx$COLUMNSxf32>
          %new = arith.addf %old, %term : tensor<$SIDEx$COLUMNSxf32>
          tile.store %new, %place : tensor<$SIDEx$COLUMNSxf32>, $PLACE
        }
      }
    }
    func.call @end(%column) : (index) -> ()
  }
  return
}
