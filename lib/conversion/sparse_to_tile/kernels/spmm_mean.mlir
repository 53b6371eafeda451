// As spmm_csr, but the sum of a row's products is divided by their number before the result's row is added.
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %val: memref<?x$E>, %b: $MATRIX, %c: memref<?x?x$A>) {
  %row = tile.program_id 0
  %col = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %some = arith.cmpi slt, %begin, %end : index
  %C = tile.view %c[%row, _] : memref<?x?x$A> to !tile.view<$COLUMNSx$A>
  %init = tile.load %C[%col] {tile.initial} : !tile.view<$COLUMNSx$A> -> tensor<$COLUMNSx$A>
  %all = scf.if %some -> (tensor<$COLUMNSx$A>) {
    %zeros = arith.constant dense<$ZERO> : tensor<$COLUMNSx$A>
    %sum = scf.for %e = %begin to %end step %c1 iter_args(%acc = %zeros) -> (tensor<$COLUMNSx$A>) {
      %at = memref.load %crd[%e] : memref<?x$I>
      %k = arith.index_cast %at : $I to index
      %v = memref.load %val[%e] : memref<?x$E>
      %B = tile.view %b[$AT] : $MATRIX to !tile.view<$COLUMNSx$E>
      %y = tile.load %B[$PART] : !tile.view<$COLUMNSx$E> -> tensor<$COLUMNSx$E>
      %wide = $WIDEN %v : $E to $A
      %lhs = tile.broadcast %wide axes [] : $A -> tensor<$COLUMNSx$A>
      %rhs = $WIDEN %y : tensor<$COLUMNSx$E> to tensor<$COLUMNSx$A>
      $STEP : tensor<$COLUMNSx$A>
      scf.yield %new : tensor<$COLUMNSx$A>
    }
    %terms = arith.subi %end, %begin : index
    %number = arith.index_cast %terms : index to i64
    %count = $COUNT %number : i64 to $A
    %counts = tile.broadcast %count axes [] : $A -> tensor<$COLUMNSx$A>
    %mean = arith.$DIVIDE %sum, %counts : tensor<$COLUMNSx$A>
    %result = arith.$ADD %init, %mean : tensor<$COLUMNSx$A>
    scf.yield %result : tensor<$COLUMNSx$A>
  } else {
    scf.yield %init : tensor<$COLUMNSx$A>
  }
  tile.store %all, %C[%col] {tile.final} : tensor<$COLUMNSx$A>, !tile.view<$COLUMNSx$A>
  tile.return
}
