// $LINES of a group's lines at a time, $COLUMNS columns of the result: the kept rows of b, window by window. A window's
// last units may lie beyond the matrix: they take no part.
//   type $A = f32, $I = i8, $E = f32
//   op $WIDEN = arith.bitcast
//   integer $LINES = 8, $COLUMNS = 32, $UNITS = 4, $KEPT = 4, $ROWS = 32, $WINDOW = 32, $TOGETHER = 1, $PARTS = 4
!sums = tensor<$LINESx$COLUMNSx$A>
tile.func private @step(!sums, !sums, !sums) -> !sums
tile.func private @taken(index) -> index
tile.kernel @kernel(%crd: memref<?x?x$UNITSx$I>, %val: memref<?x?x$KEPTx$ROWSx$E>, %b: memref<?x?x$E>, %c: memref<?x?x$A>) {
  %group = tile.program_id 0
  %col = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant $WINDOW : index
  %together = arith.constant $TOGETHER : index
  %units = arith.constant $UNITS : index
  %parts = arith.constant $PARTS : index
  %windows = memref.dim %crd, %c1 : memref<?x?x$UNITSx$I>
  %inner = memref.dim %b, %c0 : memref<?x?x$E>
  %C = tile.view %c : memref<?x?x$A> to !tile.view<$LINESx$COLUMNSx$A>
  scf.for %part = %c0 to %parts step %c1 {
    %first = arith.muli %group, %parts : index
    %line = arith.addi %first, %part : index
    %init = tile.load %C[%line, %col] {tile.initial} : !tile.view<$LINESx$COLUMNSx$A> -> !sums
    %sum = scf.for %w = %c0 to %windows step %c1 iter_args(%outer = %init) -> (!sums) {
      %base = arith.muli %w, %m : index
      %all = scf.for %u = %c0 to %units step %c1 iter_args(%middle = %outer) -> (!sums) {
        %at = memref.load %crd[%group, %w, %u] : memref<?x?x$UNITSx$I>
        %place = arith.index_castui %at : $I to index
        %offset = arith.muli %place, %together : index
        %k0 = arith.addi %base, %offset : index
        %left = arith.subi %inner, %k0 : index
        %some = arith.minsi %left, %together : index
        %here = tile.call @taken(%some) : (index) -> index
        %kept = arith.muli %u, %together : index
        %more = scf.for %i = %c0 to %here step %c1 iter_args(%acc = %middle) -> (!sums) {
          %k = arith.addi %k0, %i : index
          %n = arith.addi %kept, %i : index
          %V = tile.view %val[%group, %w, %n, _] : memref<?x?x$KEPTx$ROWSx$E> to !tile.view<$LINESx$E>
          %v = tile.load %V[%part] : !tile.view<$LINESx$E> -> tensor<$LINESx$E>
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
      scf.yield %all : !sums
    }
    tile.store %sum, %C[%line, %col] {tile.final} : !sums, !tile.view<$LINESx$COLUMNSx$A>
  }
  tile.return
}
