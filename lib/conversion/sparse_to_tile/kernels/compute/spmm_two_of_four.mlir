// 2 of 4 along k: $ROWS lines by $COLUMNS columns of the result, $DEPTH of k at a time, whose $KEPT kept elements and
// $BYTES bytes of places the machine's sparse instruction takes.
//   type $E = f16, $A = f32, $S = f32
//   op $BEGIN = arith.bitcast, $END = arith.bitcast
//   integer $KEPT = 16, $ROWS = 16, $BYTES = 4, $DEPTH = 32, $COLUMNS = 32
tile.kernel @kernel(%val: memref<?x?x$E>, %at: memref<?x?xi8>, %b: memref<?x?x$E>, %c: memref<?x?x$A>) {
  %row = tile.program_id 0
  %col = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kept = arith.constant $KEPT : index
  %entries = memref.dim %val, %c1 : memref<?x?x$E>
  %steps = arith.ceildivui %entries, %kept : index
  %V = tile.view %val : memref<?x?x$E> to !tile.view<$ROWSx$KEPTx$E>
  %P = tile.view %at : memref<?x?xi8> to !tile.view<$ROWSx$BYTESxi8>
  %B = tile.view %b : memref<?x?x$E> to !tile.view<$DEPTHx$COLUMNSx$E>
  %C = tile.view %c : memref<?x?x$A> to !tile.view<$ROWSx$COLUMNSx$A>
  %init = tile.load %C[%row, %col] : !tile.view<$ROWSx$COLUMNSx$A> -> tensor<$ROWSx$COLUMNSx$A>
  %start = $BEGIN %init : tensor<$ROWSx$COLUMNSx$A> to tensor<$ROWSx$COLUMNSx$S>
  %sum = scf.for %s = %c0 to %steps step %c1 iter_args(%acc = %start) -> (tensor<$ROWSx$COLUMNSx$S>) {
    %x = tile.load %V[%row, %s] : !tile.view<$ROWSx$KEPTx$E> -> tensor<$ROWSx$KEPTx$E>
    %p = tile.load %P[%row, %s] : !tile.view<$ROWSx$BYTESxi8> -> tensor<$ROWSx$BYTESxi8>
    %y = tile.load %B[%s, %col] : !tile.view<$DEPTHx$COLUMNSx$E> -> tensor<$DEPTHx$COLUMNSx$E>
    %new = tile.mma_sparse %x at %p, %y, %acc : tensor<$ROWSx$KEPTx$E>, tensor<$ROWSx$BYTESxi8>, tensor<$DEPTHx$COLUMNSx$E> -> tensor<$ROWSx$COLUMNSx$S>
    scf.yield %new : tensor<$ROWSx$COLUMNSx$S>
  }
  %result = $END %sum : tensor<$ROWSx$COLUMNSx$S> to tensor<$ROWSx$COLUMNSx$A>
  tile.store %result, %C[%row, %col] : tensor<$ROWSx$COLUMNSx$A>, !tile.view<$ROWSx$COLUMNSx$A>
  tile.return
}
