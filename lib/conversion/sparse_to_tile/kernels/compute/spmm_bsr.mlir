// A row of blocks per program, $COLUMNS columns of the result at a time: blocks times rows of b.
//   type $A = f32, $BLOCKS = memref<?x32x32xf32>, $E = f32, $P = i32, $I = i32
//   op $WIDEN = arith.bitcast
//   integer $LINES = 8, $COLUMNS = 32, $DEPTH = 32, $PARTS = 4
!sums = tensor<$LINESx$COLUMNSx$A>
tile.func private @step(!sums, !sums, !sums) -> !sums
tile.func private @column($BLOCKS, index, index, index) -> tensor<$LINESx$E>
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %val: $BLOCKS, %b: memref<?x?x$E>, %c: memref<?x?x$A>) {
  %row = tile.program_id 0
  %col = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %depth = arith.constant $DEPTH : index
  %parts = arith.constant $PARTS : index
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %inner = memref.dim %b, %c0 : memref<?x?x$E>
  %C = tile.view %c : memref<?x?x$A> to !tile.view<$LINESx$COLUMNSx$A>
  scf.for %part = %c0 to %parts step %c1 {
    %first = arith.muli %row, %parts : index
    %line = arith.addi %first, %part : index
    %init = tile.load %C[%line, %col] {tile.initial} : !tile.view<$LINESx$COLUMNSx$A> -> !sums
    %sum = scf.for %e = %begin to %end step %c1 iter_args(%outer = %init) -> (!sums) {
      %at = memref.load %crd[%e] : memref<?x$I>
      %block = arith.index_cast %at : $I to index
      %k0 = arith.muli %block, %depth : index
      %left = arith.subi %inner, %k0 : index
      %here = arith.minsi %left, %depth : index
      %more = scf.for %i = %c0 to %here step %c1 iter_args(%acc = %outer) -> (!sums) {
        %k = arith.addi %k0, %i : index
        %v = tile.call @column(%val, %e, %i, %part) : ($BLOCKS, index, index, index) -> tensor<$LINESx$E>
        %B = tile.view %b[%k, _] : memref<?x?x$E> to !tile.view<$COLUMNSx$E>
        %y = tile.load %B[%col] : !tile.view<$COLUMNSx$E> -> tensor<$COLUMNSx$E>
        %vw = $WIDEN %v : tensor<$LINESx$E> to tensor<$LINESx$A>
        %yw = $WIDEN %y : tensor<$COLUMNSx$E> to tensor<$COLUMNSx$A>
        %lhs = tile.broadcast %vw axes [1] : tensor<$LINESx$A> -> !sums
        %rhs = tile.broadcast %yw axes [0] : tensor<$COLUMNSx$A> -> !sums
        %new = tile.call @step(%acc, %lhs, %rhs) : (!sums, !sums, !sums) -> !sums
        scf.yield %new : !sums
      }
      scf.yield %more : !sums
    }
    tile.store %sum, %C[%line, %col] {tile.final} : !sums, !tile.view<$LINESx$COLUMNSx$A>
  }
  tile.return
}
