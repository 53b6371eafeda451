// Lines of a group share the rows of b that they take: $CHUNK of these at a time are gathered once for all lines, in the
// form that products want ($GROUP neighbours side by side, in $Q), and multiplied as dense ones are. Values go along:
// once for all columns. Positions beyond a group's entries, and rows beyond b, count nothing.
//   type $Q = f32, $A = f32, $P = i32, $I = i32, $E = f32
//   op $WIDEN = arith.bitcast, $ADD = arith.addf
//   integer $CHUNK = 64, $ROWS = 32, $GROUP = 1, $FOLDS = 64, $STEP = 4, $LINES = 8, $COLUMNS = 32
//   integer $PARTS = 4, $STRIPS = 4, $WINDOW = 32, $KEPT = 4, $TOGETHER = 1
!values = !tile.buffer<$CHUNKx$ROWSx$Q, #tile.layout<offset [$GROUP:d0, $ROWS:d1, $FOLDS:d0*$GROUP]>, local>
!someValues = !tile.buffer<$STEPx$ROWSx$Q, #tile.layout<offset [$GROUP:d0, $ROWS:d1, 4:d0*$GROUP]>, local>
!lines = !tile.buffer<$ROWSx$CHUNKx$Q, #tile.layout<offset [$GROUP:d1, $ROWS:d0, $FOLDS:d1*$GROUP]>, local>
!someLines = !tile.buffer<$LINESx$STEPx$Q, #tile.layout<offset [$GROUP:d1, $LINES:d0, 4:d1*$GROUP]>, local>
!rows = !tile.buffer<$CHUNKx$COLUMNSx$Q, #tile.layout<offset [$GROUP:d0, $COLUMNS:d1, $FOLDS:d0*$GROUP]>, local>
!someRows = !tile.buffer<$STEPx$COLUMNSx$Q, #tile.layout<offset [$GROUP:d0, $COLUMNS:d1, 4:d0*$GROUP]>, local>
!places = !tile.buffer<$CHUNKxi64, #tile.layout<offset [$CHUNK:d0]>, local>
!somePlaces = !tile.buffer<$STEPxi64, #tile.layout<offset [$STEP:d0]>, local>
!packed = tensor<$STEPx$ROWSx$Q>
!some = tensor<$STEPx$COLUMNSx$Q>
!sums = tensor<1x$COLUMNSx$A>
!result = tensor<$LINESx$COLUMNSx$A>
tile.func private @first(memref<?x$P>, index, index) -> index
tile.func private @pack(!packed) -> !packed
tile.func private @count(!sums, !some) -> !sums
tile.func private @start(!sums) -> !result
tile.func private @multiply(!result, tensor<$LINESx$STEPx$Q>, !some) -> !result
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %val: memref<?x$ROWSx$E>, %b: memref<?x?x$E>, %c: memref<?x?x$A>) {
  %group = tile.program_id 0
  %strip = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant $STEP : index
  %chunk = arith.constant $CHUNK : index
  %width = arith.constant $COLUMNS : index
  %height = arith.constant $LINES : index
  %parts = arith.constant $PARTS : index
  %strips = arith.constant $STRIPS : index
  %groups = tile.num_programs 0
  %entries = memref.dim %val, %c0 : memref<?x$ROWSx$E>
  %inner = memref.dim %b, %c0 : memref<?x?x$E>
  %columns = memref.dim %b, %c1 : memref<?x?x$E>
  %each = arith.divui %entries, %groups : index
  %following = arith.addi %group, %c1 : index
  %base = tile.call @first(%pos, %group, %each) : (memref<?x$P>, index, index) -> index
  %bound = tile.call @first(%pos, %following, %each) : (memref<?x$P>, index, index) -> index
  %depth = arith.subi %bound, %base : index
  %full = arith.ceildivui %depth, %chunk : index
  %chunks = arith.maxsi %full, %c1 : index
  %panels = arith.ceildivui %columns, %width : index
  %begin = arith.muli %strip, %strips : index
  %after = arith.addi %begin, %strips : index
  %end = arith.minsi %after, %panels : index
  %firstLine = arith.muli %group, %parts : index
  %V = tile.view %val : memref<?x$ROWSx$E> to !tile.view<$STEPx$ROWSx$E>
  %R = tile.view %b : memref<?x?x$E> to !tile.view<$STEPx$COLUMNSx$E>
  %C = tile.view %c : memref<?x?x$A> to !tile.view<$LINESx$COLUMNSx$A>
  %values = tile.alloc : !values
  %rows = tile.alloc : !rows
  %places = tile.alloc : !places
  %lines = tile.transpose %values [1, 0] : !values -> !lines
  %none = arith.constant dense<-1> : tensor<$STEPxindex>
  %window = arith.constant dense<$WINDOW> : tensor<$STEPxindex>
  %kept = arith.constant dense<$KEPT> : tensor<$STEPxindex>
  %together = arith.constant dense<$TOGETHER> : tensor<$STEPxindex>
  %zeros = arith.constant dense<0x0> : !sums
  %depths = tile.broadcast %depth axes [] : index -> tensor<$STEPxindex>
  %inners = tile.broadcast %inner axes [] : index -> tensor<$STEPxindex>
  %bases = tile.broadcast %base axes [] : index -> tensor<$STEPxindex>
  scf.for %block = %c0 to %chunks step %c1 {
    %first = arith.muli %block, %chunk : index
    %left = arith.subi %depth, %first : index
    %here = arith.minsi %left, %chunk : index
    %isLast = arith.cmpi sle, %left, %chunk : index
    scf.for %i = %c0 to %here step %step {
      %from = arith.addi %first, %i : index
      %p = tile.iota dim 0 from %from : tensor<$STEPxindex>
      %isEntry = arith.cmpi slt, %p, %depths : tensor<$STEPxindex>
      %at = arith.addi %bases, %p : tensor<$STEPxindex>
      %unit = arith.divui %at, %together : tensor<$STEPxindex>
      %units = arith.select %isEntry, %unit, %none : tensor<$STEPxi1>, tensor<$STEPxindex>
      %place = tile.gather %crd[%units] bounds(drop) : memref<?x$I>[tensor<$STEPxindex>] -> tensor<$STEPx$I>
      %number = arith.index_castui %place : tensor<$STEPx$I> to tensor<$STEPxindex>
      %scaled = arith.muli %number, %together : tensor<$STEPxindex>
      %member = arith.remui %at, %together : tensor<$STEPxindex>
      %offset = arith.addi %scaled, %member : tensor<$STEPxindex>
      %w = arith.divui %p, %kept : tensor<$STEPxindex>
      %corner = arith.muli %w, %window : tensor<$STEPxindex>
      %k = arith.addi %corner, %offset : tensor<$STEPxindex>
      %isRow = arith.cmpi slt, %k, %inners : tensor<$STEPxindex>
      %counts = arith.andi %isEntry, %isRow : tensor<$STEPxi1>
      %row = arith.select %counts, %k, %none : tensor<$STEPxi1>, tensor<$STEPxindex>
      %row64 = arith.index_cast %row : tensor<$STEPxindex> to tensor<$STEPxi64>
      %somePlaces = tile.slice %places[%i] : !places -> !somePlaces
      tile.store %row64, %somePlaces : tensor<$STEPxi64>, !somePlaces
      %entry = arith.select %counts, %at, %none : tensor<$STEPxi1>, tensor<$STEPxindex>
      %v = tile.gather %V[%entry, %c0] bounds(drop) : !tile.view<$STEPx$ROWSx$E>[tensor<$STEPxindex>, index] -> tensor<$STEPx$ROWSx$E>
      %x = $WIDEN %v : tensor<$STEPx$ROWSx$E> to !packed
      %packed = tile.call @pack(%x) : (!packed) -> !packed
      %someValues = tile.slice %values[%i, 0] : !values -> !someValues
      tile.store %packed, %someValues : !packed, !someValues
    }
    scf.for %panel = %begin to %end step %c1 {
      %sums = scf.for %i = %c0 to %here step %step iter_args(%acc = %zeros) -> (!sums) {
        %somePlaces = tile.slice %places[%i] : !places -> !somePlaces
        %k = tile.load %somePlaces : !somePlaces -> tensor<$STEPxi64>
        %y = tile.gather %R[%k, %panel] bounds(drop) : !tile.view<$STEPx$COLUMNSx$E>[tensor<$STEPxi64>, index] -> tensor<$STEPx$COLUMNSx$E>
        %x = $WIDEN %y : tensor<$STEPx$COLUMNSx$E> to !some
        %someRows = tile.slice %rows[%i, 0] : !rows -> !someRows
        tile.store %x, %someRows : !some, !someRows
        %all = tile.load %someRows : !someRows -> !some
        %new = tile.call @count(%acc, %all) : (!sums, !some) -> !sums
        scf.yield %new : !sums
      }
      %start = tile.call @start(%sums) : (!sums) -> !result
      scf.for %part = %c0 to %parts step %c1 {
        %line = arith.addi %firstLine, %part : index
        %top = arith.muli %part, %height : index
        tile.prefetch %C[%line, %panel] write : !tile.view<$LINESx$COLUMNSx$A>
        %sum = scf.for %i = %c0 to %here step %step iter_args(%acc = %start) -> (!result) {
          %someLines = tile.slice %lines[%top, %i] : !lines -> !someLines
          %someRows = tile.slice %rows[%i, 0] : !rows -> !someRows
          %lhs = tile.load %someLines : !someLines -> tensor<$LINESx$STEPx$Q>
          %rhs = tile.load %someRows : !someRows -> !some
          %new = tile.call @multiply(%acc, %lhs, %rhs) : (!result, tensor<$LINESx$STEPx$Q>, !some) -> !result
          scf.yield %new : !result
        }
        %before = tile.load %C[%line, %panel] : !tile.view<$LINESx$COLUMNSx$A> -> !result
        %result = $ADD %sum, %before : !result
        scf.if %isLast {
          tile.store %result, %C[%line, %panel] {tile.final} : !result, !tile.view<$LINESx$COLUMNSx$A>
        } else {
          tile.store %result, %C[%line, %panel] : !result, !tile.view<$LINESx$COLUMNSx$A>
        }
      }
    }
  }
  tile.return
}
