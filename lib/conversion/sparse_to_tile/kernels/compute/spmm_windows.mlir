// $COLUMNS columns of the rows of b that $SPAN windows reach are copied side by side, where the innermost cache holds
// them, and $GROUPS groups of lines take their kept rows from there. Sums rest in the result between two spans. A
// window's last units may lie beyond the matrix: they take no part.
//   type $A = f32, $I = i8, $E = f32
//   op $WIDEN = arith.bitcast
//   integer $LINES = 8, $COLUMNS = 32, $UNITS = 4, $KEPT = 4, $ROWS = 32, $WINDOW = 32, $TOGETHER = 1, $PARTS = 4
//   integer $SPAN = 2, $CHUNK = 64, $STEP = 4, $STEPS = 16, $GROUPS = 8, $STRIPS = 4, $AHEAD = 2
//   integer $SPANVALUES = 256, $SPANUNITS = 8
!sums = tensor<$LINESx$COLUMNSx$A>
!rows = !tile.buffer<$CHUNKx$COLUMNSx$E, #tile.layout<offset [$COLUMNS:d1, $CHUNK:d0]>, local>
!someRows = !tile.buffer<$STEPx$COLUMNSx$E, #tile.layout<offset [$COLUMNS:d1, $STEP:d0]>, local>
!row = !tile.buffer<1x$COLUMNSx$E, #tile.layout<offset [$COLUMNS:d1]>, local>
tile.func private @step(!sums, !sums, !sums) -> !sums
tile.func private @taken(index) -> index
tile.kernel @kernel(%crd: memref<?x?x$I>, %val: memref<?x?x$KEPTx$ROWSx$E>, %flat: memref<?x?x$E>, %b: memref<?x?x$E>, %c: memref<?x?x$A>) {
  %turn = tile.program_id 0
  %strip = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant $WINDOW : index
  %together = arith.constant $TOGETHER : index
  %units = arith.constant $UNITS : index
  %parts = arith.constant $PARTS : index
  %span = arith.constant $SPAN : index
  %step = arith.constant $STEP : index
  %each = arith.constant $GROUPS : index
  %ahead = arith.constant $AHEAD : index
  %strips = arith.constant $STRIPS : index
  %width = arith.constant $COLUMNS : index
  %steps = arith.constant $STEPS : index
  %groups = memref.dim %crd, %c0 : memref<?x?x$I>
  %allUnits = memref.dim %crd, %c1 : memref<?x?x$I>
  %windows = arith.divui %allUnits, %units : index
  %inner = memref.dim %b, %c0 : memref<?x?x$E>
  %spans = arith.ceildivui %windows, %span : index
  %begin = arith.muli %turn, %each : index
  %after = arith.addi %begin, %each : index
  %end = arith.minsi %after, %groups : index
  %columns = memref.dim %b, %c1 : memref<?x?x$E>
  %panels = arith.ceildivui %columns, %width : index
  %firstPanel = arith.muli %strip, %strips : index
  %panelsAfter = arith.addi %firstPanel, %strips : index
  %lastPanel = arith.minsi %panelsAfter, %panels : index
  %B = tile.view %b : memref<?x?x$E> to !tile.view<$STEPx$COLUMNSx$E>
  %C = tile.view %c : memref<?x?x$A> to !tile.view<$LINESx$COLUMNSx$A>
  %rows = tile.alloc : !rows
  scf.for %s = %c0 to %spans step %c1 {
    %w0 = arith.muli %s, %span : index
    %wn = arith.addi %w0, %span : index
    %w1 = arith.minsi %wn, %windows : index
    %corner = arith.muli %w0, %m : index
    %isLast = arith.cmpi sge, %wn, %windows : index
    %firstStep = arith.muli %s, %steps : index
    scf.for %col = %firstPanel to %lastPanel step %c1 {
      scf.for %i = %c0 to %steps step %c1 {
        %from = arith.addi %firstStep, %i : index
        %y = tile.load %B[%from, %col] : !tile.view<$STEPx$COLUMNSx$E> -> tensor<$STEPx$COLUMNSx$E>
        %k = arith.muli %i, %step : index
        %someRows = tile.slice %rows[%k, 0] : !rows -> !someRows
        tile.store %y, %someRows : tensor<$STEPx$COLUMNSx$E>, !someRows
      }
      scf.for %group = %begin to %end step %c1 {
        %next = arith.addi %group, %ahead : index
        %N = tile.view %flat[%next, _] : memref<?x?x$E> to !tile.view<$SPANVALUESx$E>
        tile.prefetch %N[%s] : !tile.view<$SPANVALUESx$E>
        %P = tile.view %crd[%next, _] : memref<?x?x$I> to !tile.view<$SPANUNITSx$I>
        tile.prefetch %P[%s] : !tile.view<$SPANUNITSx$I>
        scf.for %part = %c0 to %parts step %c1 {
          %first = arith.muli %group, %parts : index
          %line = arith.addi %first, %part : index
          %lineAfter = arith.addi %line, %ahead : index
          tile.prefetch %C[%lineAfter, %col] write : !tile.view<$LINESx$COLUMNSx$A>
          %init = tile.load %C[%line, %col] : !tile.view<$LINESx$COLUMNSx$A> -> !sums
          %sum = scf.for %w = %w0 to %w1 step %c1 iter_args(%outer = %init) -> (!sums) {
            %base = arith.muli %w, %m : index
            %firstUnit = arith.muli %w, %units : index
            %all = scf.for %u = %c0 to %units step %c1 iter_args(%middle = %outer) -> (!sums) {
              %unit = arith.addi %firstUnit, %u : index
              %at = memref.load %crd[%group, %unit] : memref<?x?x$I>
              %place = arith.index_castui %at : $I to index
              %offset = arith.muli %place, %together : index
              %k0 = arith.addi %base, %offset : index
              %left = arith.subi %inner, %k0 : index
              %some = arith.minsi %left, %together : index
              %here = tile.call @taken(%some) : (index) -> index
              %kept = arith.muli %u, %together : index
              %near = arith.subi %k0, %corner : index
              %more = scf.for %i = %c0 to %here step %c1 iter_args(%acc = %middle) -> (!sums) {
                %k = arith.addi %near, %i : index
                %n = arith.addi %kept, %i : index
                %V = tile.view %val[%group, %w, %n, _] : memref<?x?x$KEPTx$ROWSx$E> to !tile.view<$LINESx$E>
                %v = tile.load %V[%part] : !tile.view<$LINESx$E> -> tensor<$LINESx$E>
                %row = tile.slice %rows[%k, 0] : !rows -> !row
                %y1 = tile.load %row : !row -> tensor<1x$COLUMNSx$E>
                %y = tile.reshape %y1 : tensor<1x$COLUMNSx$E> -> tensor<$COLUMNSx$E>
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
          scf.if %isLast {
            tile.store %sum, %C[%line, %col] {tile.final} : !sums, !tile.view<$LINESx$COLUMNSx$A>
          } else {
            tile.store %sum, %C[%line, %col] : !sums, !tile.view<$LINESx$COLUMNSx$A>
          }
        }
      }
    }
  }
  tile.return
}
