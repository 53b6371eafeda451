// For each group of $LINES lines of a mask: the columns that one of them shows, in ascending order. Row `group` of the
// list begins with twice the number of its columns, and 1 more if some lines do not show one of them. Behind the columns
// stand $AFTER numbers of no column, for who reads them in fixed numbers.
//   integer $LINES = 32, $COLUMNS = 64, $AFTER = 64
!bits = tensor<$LINESx$COLUMNSxi1>
!codes = tensor<$LINESx$COLUMNSxi32>
!columns = tensor<$COLUMNSxi32>
!places = tensor<$COLUMNSxindex>
tile.kernel @kernel(%mask: memref<?x?xi1>, %list: memref<?x?xi32>) {
  %group = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %width = arith.constant $COLUMNS : index
  %all = memref.dim %mask, %c1 : memref<?x?xi1>
  %M = tile.view %mask : memref<?x?xi1> to !tile.view<$LINESx$COLUMNSxi1>
  %L = tile.view %list[%group, _] : memref<?x?xi32> to !tile.view<$COLUMNSxi32>
  %E = tile.view %list[%group, _] : memref<?x?xi32> to !tile.view<$AFTERxi32>
  %steps = tile.num_tiles %M dim 1 : !tile.view<$LINESx$COLUMNSxi1>
  // An element that is shown is 1, one that is not is 2: a column's bits tell both.
  %set = arith.constant dense<1> : !codes
  %notSet = arith.constant dense<2> : !codes
  %one = arith.constant dense<1> : !columns
  %both = arith.constant dense<3> : !columns
  %none = arith.constant dense<0> : !columns
  %lane = tile.iota dim 0 : !columns
  %at, %parts = scf.for %t = %c0 to %steps step %c1 iter_args(%to = %c1, %some = %none) -> (index, !columns) {
    %bits = tile.load %M[%group, %t] : !tile.view<$LINESx$COLUMNSxi1> -> !bits
    %codes = arith.select %bits, %set, %notSet : !bits, !codes
    %code = tile.reduce {arith.ori} %codes axes [0] : !codes -> !columns
    %shown = arith.andi %code, %one : !columns
    %isShown = arith.cmpi ne, %shown, %none : !columns
    %isPart = arith.cmpi eq, %code, %both : !columns
    %part = arith.extui %isPart : tensor<$COLUMNSxi1> to !columns
    %before = tile.scan {arith.addi} %shown axis 0 exclusive : !columns
    %found = tile.reduce {arith.addi} %shown axes [0] : !columns -> i32
    %begin = tile.broadcast %to axes [] : index -> !places
    %offset = arith.index_cast %before : !columns to !places
    %place = arith.addi %begin, %offset : !places
    %first = arith.muli %t, %width : index
    %first32 = arith.index_cast %first : index to i32
    %shift = tile.broadcast %first32 axes [] : i32 -> !columns
    %column = arith.addi %lane, %shift : !columns
    tile.scatter %column, %L[%place] mask %isShown bounds(trap) : !columns, !tile.view<$COLUMNSxi32>[!places]
    %number = arith.index_cast %found : i32 to index
    %after = arith.addi %to, %number : index
    %sum = arith.addi %some, %part : !columns
    scf.yield %after, %sum : index, !columns
  }
  %count = arith.subi %at, %c1 : index
  %listed = arith.index_cast %count : index to i32
  %hidden = tile.reduce {arith.addi} %parts axes [0] : !columns -> i32
  %two32 = arith.constant 2 : i32
  %no32 = arith.constant 0 : i32
  %twice = arith.muli %listed, %two32 : i32
  %hidesSome = arith.cmpi ne, %hidden, %no32 : i32
  %more = arith.extui %hidesSome : i1 to i32
  %begins = arith.addi %twice, %more : i32
  memref.store %begins, %list[%group, %c0] : memref<?x?xi32>
  %end = tile.iota dim 0 from %at : tensor<$AFTERxindex>
  %all32 = arith.index_cast %all : index to i32
  %noColumn = tile.broadcast %all32 axes [] : i32 -> tensor<$AFTERxi32>
  tile.scatter %noColumn, %E[%end] bounds(trap) : tensor<$AFTERxi32>, !tile.view<$AFTERxi32>[tensor<$AFTERxindex>]
  tile.return
}
