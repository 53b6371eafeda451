// Row by row the columns that a mask names, and the elements that stand there, without those of micro-tiles of $LINES rows
// that `cover` names. 64 columns become the bits of a number, so that what is not named costs little. The elements, most of
// them on a cache line of their own, are read in a loop that nothing holds up, so that many reads are under way at once.
//   type $E = f32, $P = i32
//   integer $LINES = 32
tile.kernel @kernel(%mask: memref<?x?xi1>, %cover: memref<?x?xi1>, %x: memref<?x?x$E>, %pos: memref<?x$P>, %crd: memref<?x$P>, %val: memref<?x$E>) {
  %row = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %wide = arith.constant 64 : index
  %one = arith.constant 1 : i64
  %M = tile.view %mask[%row, _] : memref<?x?xi1> to !tile.view<64xi1>
  %lines = arith.constant $LINES : index
  %line = arith.divui %row, %lines : index
  %C = tile.view %cover[%line, _] : memref<?x?xi1> to !tile.view<64xi1>
  %true = arith.constant dense<1> : tensor<64xi1>
  %tiles = tile.num_tiles %M dim 0 : !tile.view<64xi1>
  %lane = tile.iota dim 0 : tensor<64xi64>
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = scf.for %t = %c0 to %tiles step %c1 iter_args(%at = %begin) -> (index) {
    %named = tile.load %M[%t] : !tile.view<64xi1> -> tensor<64xi1>
    %isCover = tile.load %C[%t] : !tile.view<64xi1> -> tensor<64xi1>
    %isOutside = arith.xori %isCover, %true : tensor<64xi1>
    %some = arith.andi %named, %isOutside : tensor<64xi1>
    %ones = arith.extui %some : tensor<64xi1> to tensor<64xi64>
    %shifted = arith.shli %ones, %lane : tensor<64xi64>
    %bits = tile.reduce {arith.ori} %shifted axes [0] : tensor<64xi64> -> i64
    %number = math.ctpop %bits : i64
    %count = arith.index_cast %number : i64 to index
    %first = arith.muli %t, %wide : index
    %none = scf.for %i = %c0 to %count step %c1 iter_args(%left = %bits) -> (i64) {
      %lowest = math.cttz %left : i64
      %low = arith.index_cast %lowest : i64 to index
      %column = arith.addi %first, %low : index
      %place = arith.addi %at, %i : index
      %c = arith.index_cast %column : index to $P
      memref.store %c, %crd[%place] : memref<?x$P>
      %less = arith.subi %left, %one : i64
      %next = arith.andi %left, %less : i64
      scf.yield %next : i64
    }
    %after = arith.addi %at, %count : index
    scf.yield %after : index
  }
  scf.for %place = %begin to %end step %c1 {
    %c = memref.load %crd[%place] : memref<?x$P>
    %column = arith.index_cast %c : $P to index
    %v = memref.load %x[%row, %column] : memref<?x?x$E>
    memref.store %v, %val[%place] : memref<?x$E>
  }
  tile.return
}
