// A row of blocks per program, $COLUMNS columns of the result at a time: $ROWS x $DEPTH blocks times rows of b.
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %val: memref<?x$BLOCKx$E>, %b: memref<?x?x$E>, %c: memref<?x?x$A>) {
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
    %init = tile.load %C[%line, %col] {tile.initial} : !tile.view<$LINESx$COLUMNSx$A> -> tensor<$LINESx$COLUMNSx$A>
    %sum = scf.for %e = %begin to %end step %c1 iter_args(%outer = %init) -> (tensor<$LINESx$COLUMNSx$A>) {
      %at = memref.load %crd[%e] : memref<?x$I>
      %block = arith.index_cast %at : $I to index
      %k0 = arith.muli %block, %depth : index
      %left = arith.subi %inner, %k0 : index
      %here = arith.minsi %left, %depth : index
      %more = scf.for %i = %c0 to %here step %c1 iter_args(%acc = %outer) -> (tensor<$LINESx$COLUMNSx$A>) {
        %k = arith.addi %k0, %i : index
        %V = tile.view %val[%e, $LINE] : memref<?x$BLOCKx$E> to !tile.view<$LINESx$E>
        %v = tile.load %V[%part] : !tile.view<$LINESx$E> -> tensor<$LINESx$E>
        %B = tile.view %b[%k, _] : memref<?x?x$E> to !tile.view<$COLUMNSx$E>
        %y = tile.load %B[%col] : !tile.view<$COLUMNSx$E> -> tensor<$COLUMNSx$E>
        %vw = $WIDEN %v : tensor<$LINESx$E> to tensor<$LINESx$A>
        %yw = $WIDEN %y : tensor<$COLUMNSx$E> to tensor<$COLUMNSx$A>
        %lhs = tile.broadcast %vw axes [1] : tensor<$LINESx$A> -> tensor<$LINESx$COLUMNSx$A>
        %rhs = tile.broadcast %yw axes [0] : tensor<$COLUMNSx$A> -> tensor<$LINESx$COLUMNSx$A>
        $STEP : tensor<$LINESx$COLUMNSx$A>
        scf.yield %new : tensor<$LINESx$COLUMNSx$A>
      }
      scf.yield %more : tensor<$LINESx$COLUMNSx$A>
    }
    tile.store %sum, %C[%line, %col] {tile.final} : tensor<$LINESx$COLUMNSx$A>, !tile.view<$LINESx$COLUMNSx$A>
  }
  tile.return
}
