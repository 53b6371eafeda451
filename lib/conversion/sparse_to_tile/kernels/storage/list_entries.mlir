// Row by row the columns that a mask names, and the elements that stand there. 64 columns become the bits of a number, so
// that what is not named costs little.
//   type $E = f32, $P = i32
tile.kernel @kernel(%mask: memref<?x?xi1>, %x: memref<?x?x$E>, %pos: memref<?x$P>, %crd: memref<?x$P>, %val: memref<?x$E>) {
  %row = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %wide = arith.constant 64 : index
  %one = arith.constant 1 : i64
  %M = tile.view %mask[%row, _] : memref<?x?xi1> to !tile.view<64xi1>
  %tiles = tile.num_tiles %M dim 0 : !tile.view<64xi1>
  %lane = tile.iota dim 0 : tensor<64xi64>
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = scf.for %t = %c0 to %tiles step %c1 iter_args(%at = %begin) -> (index) {
    %some = tile.load %M[%t] : !tile.view<64xi1> -> tensor<64xi1>
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
      %v = memref.load %x[%row, %column] : memref<?x?x$E>
      memref.store %c, %crd[%place] : memref<?x$P>
      memref.store %v, %val[%place] : memref<?x$E>
      %less = arith.subi %left, %one : i64
      %next = arith.andi %left, %less : i64
      scf.yield %next : i64
    }
    %after = arith.addi %at, %count : index
    scf.yield %after : index
  }
  tile.return
}
