// Tiles of a dense matrix, $ROWS lines by $TOGETHER columns, that a group of lines names, times rows of b. Both are
// gathered as they are packed, $CHUNK columns at a time: a program reads its lines once for all columns of the result.
// Places beyond a group's list, and beyond the matrix, count nothing.
//   type $E = f32, $A = f32, $P = i32, $I = i32, $M = memref<?x?xi1>
//   op $WIDEN = arith.bitcast, $ADD = arith.addf
//   integer $CHUNK = 128, $ROWS = 32, $STEP = 4, $WIDE = 16, $LINES = 8, $COLUMNS = 32, $PARTS = 4, $STRIPS = 8
//   integer $TOGETHER = 1, $VECTORS = 2
!values = !tile.buffer<$CHUNKx$ROWSx$A, #tile.layout<offset [$ROWS:d1, $CHUNK:d0]>, local>
!someValues = !tile.buffer<$WIDEx$LINESx$A, #tile.layout<offset [$LINES:d1, $WIDE:d0]>, local>
!lines = !tile.buffer<$ROWSx$CHUNKx$A, #tile.layout<offset [$ROWS:d0, $CHUNK:d1]>, local>
!someLines = !tile.buffer<$LINESx$STEPx$A, #tile.layout<offset [$LINES:d0, $STEP:d1]>, local>
!rows = !tile.buffer<$CHUNKx$COLUMNSx$A, #tile.layout<offset [$COLUMNS:d1, $CHUNK:d0]>, local>
!someRows = !tile.buffer<$STEPx$COLUMNSx$A, #tile.layout<offset [$COLUMNS:d1, $STEP:d0]>, local>
!places = !tile.buffer<$CHUNKxi64, #tile.layout<offset [$CHUNK:d0]>, local>
!widePlaces = !tile.buffer<$WIDExi64, #tile.layout<offset [$WIDE:d0]>, local>
!somePlaces = !tile.buffer<$STEPxi64, #tile.layout<offset [$STEP:d0]>, local>
!listed = !tile.view<$LINESx$WIDEx$E>
!result = tensor<$LINESx$COLUMNSx$A>
tile.func private @fetch($M, !listed, index, tensor<$WIDExi64>) -> tensor<$LINESx$WIDEx$E>
tile.func private @place(memref<?x$I>, index, index) -> index
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %mask: $M, %d: memref<?x?x$E>, %b: memref<?x?x$E>, %c: memref<?x?x$A>) {
  %group = tile.program_id 0
  %strip = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant $STEP : index
  %wide = arith.constant $WIDE : index
  %chunk = arith.constant $CHUNK : index
  %width = arith.constant $COLUMNS : index
  %height = arith.constant $LINES : index
  %parts = arith.constant $PARTS : index
  %strips = arith.constant $STRIPS : index
  %vectors = arith.constant $VECTORS : index
  %lastVector = arith.addi %vectors, %c1 : index
  %of = arith.constant $TOGETHER : index
  %inner = memref.dim %b, %c0 : memref<?x?x$E>
  %columns = memref.dim %b, %c1 : memref<?x?x$E>
  %following = arith.addi %group, %c1 : index
  %p0 = memref.load %pos[%group] : memref<?x$P>
  %p1 = memref.load %pos[%following] : memref<?x$P>
  %q0 = arith.index_cast %p0 : $P to index
  %q1 = arith.index_cast %p1 : $P to index
  %base = arith.muli %q0, %of : index
  %bound = arith.muli %q1, %of : index
  %depth = arith.subi %bound, %base : index
  %full = arith.ceildivui %depth, %chunk : index
  %chunks = arith.maxsi %full, %c1 : index
  %panels = arith.ceildivui %columns, %width : index
  %begin = arith.muli %strip, %strips : index
  %after = arith.addi %begin, %strips : index
  %end = arith.minsi %after, %panels : index
  %numPanels = arith.subi %end, %begin : index
  %numVisits = arith.muli %numPanels, %parts : index
  %allRows = arith.constant $ROWS : index
  %rowsEach = arith.ceildivui %allRows, %numVisits : index
  %firstRow = arith.muli %group, %allRows : index
  %rowAfter = arith.addi %firstRow, %allRows : index
  %ends = memref.dim %pos, %c0 : memref<?x$P>
  %end0 = arith.subi %ends, %c1 : index
  %after1 = arith.addi %following, %c1 : index
  %after2 = arith.minsi %after1, %end0 : index
  %p2 = memref.load %pos[%after2] : memref<?x$P>
  %q2 = arith.index_cast %p2 : $P to index
  %boundAfter = arith.muli %q2, %of : index
  %firstLine = arith.muli %group, %parts : index
  %D = tile.view %d : memref<?x?x$E> to !listed
  %R = tile.view %b : memref<?x?x$E> to !tile.view<$STEPx$COLUMNSx$E>
  %C = tile.view %c : memref<?x?x$A> to !tile.view<$LINESx$COLUMNSx$A>
  %values = tile.alloc : !values
  %rows = tile.alloc : !rows
  %places = tile.alloc : !places
  %lines = tile.transpose %values [1, 0] : !values -> !lines
  %none = arith.constant dense<-1> : tensor<$WIDExindex>
  %together = arith.constant dense<$TOGETHER> : tensor<$WIDExindex>
  %start = arith.constant dense<0x0> : !result
  %depths = tile.broadcast %depth axes [] : index -> tensor<$WIDExindex>
  %inners = tile.broadcast %inner axes [] : index -> tensor<$WIDExindex>
  %bases = tile.broadcast %base axes [] : index -> tensor<$WIDExindex>
  scf.for %block = %c0 to %chunks step %c1 {
    %first = arith.muli %block, %chunk : index
    %left = arith.subi %depth, %first : index
    %here = arith.minsi %left, %chunk : index
    %quarter = arith.ceildivui %here, %step : index
    %firstAt = arith.addi %base, %first : index
    %isLast = arith.cmpi sle, %left, %chunk : index
    scf.for %i = %c0 to %here step %wide {
      %from = arith.addi %first, %i : index
      %p = tile.iota dim 0 from %from : tensor<$WIDExindex>
      %isEntry = arith.cmpi slt, %p, %depths : tensor<$WIDExindex>
      %at = arith.addi %bases, %p : tensor<$WIDExindex>
      %unit = arith.divui %at, %together : tensor<$WIDExindex>
      %units = arith.select %isEntry, %unit, %none : tensor<$WIDExi1>, tensor<$WIDExindex>
      %place = tile.gather %crd[%units] bounds(drop) : memref<?x$I>[tensor<$WIDExindex>] -> tensor<$WIDEx$I>
      %number = arith.index_castui %place : tensor<$WIDEx$I> to tensor<$WIDExindex>
      %scaled = arith.muli %number, %together : tensor<$WIDExindex>
      %member = arith.remui %at, %together : tensor<$WIDExindex>
      %k = arith.addi %scaled, %member : tensor<$WIDExindex>
      %isRow = arith.cmpi slt, %k, %inners : tensor<$WIDExindex>
      %counts = arith.andi %isEntry, %isRow : tensor<$WIDExi1>
      %row = arith.select %counts, %k, %none : tensor<$WIDExi1>, tensor<$WIDExindex>
      %row64 = arith.index_cast %row : tensor<$WIDExindex> to tensor<$WIDExi64>
      %widePlaces = tile.slice %places[%i] : !places -> !widePlaces
      tile.store %row64, %widePlaces : tensor<$WIDExi64>, !widePlaces
    }
    scf.for %part = %c0 to %parts step %c1 {
      %line = arith.addi %firstLine, %part : index
      %top = arith.muli %part, %height : index
      scf.for %i = %c0 to %here step %wide {
        %widePlaces = tile.slice %places[%i] : !places -> !widePlaces
        %k = tile.load %widePlaces : !widePlaces -> tensor<$WIDExi64>
        %v = tile.call @fetch(%mask, %D, %line, %k) : ($M, !listed, index, tensor<$WIDExi64>) -> tensor<$LINESx$WIDEx$E>
        %x = $WIDEN %v : tensor<$LINESx$WIDEx$E> to tensor<$LINESx$WIDEx$A>
        %y = tile.transpose %x [1, 0] : tensor<$LINESx$WIDEx$A> -> tensor<$WIDEx$LINESx$A>
        %someValues = tile.slice %values[%i, %top] : !values -> !someValues
        tile.store %y, %someValues : tensor<$WIDEx$LINESx$A>, !someValues
      }
    }
    %following0 = arith.addi %firstAt, %chunk : index
    %nextAt = arith.select %isLast, %bound, %following0 : index
    %nextBound = arith.select %isLast, %boundAfter, %bound : index
    %nextRow = arith.select %isLast, %rowAfter, %firstRow : index
    %nextStop = arith.addi %nextAt, %chunk : index
    %kAfter = tile.call @place(%crd, %nextAt, %nextBound) : (memref<?x$I>, index, index) -> index
    %kEnd = tile.call @place(%crd, %nextStop, %nextBound) : (memref<?x$I>, index, index) -> index
    %lineBegin = arith.divui %kAfter, %wide : index
    %lineLast = arith.divui %kEnd, %wide : index
    %lineEnd = arith.addi %lineLast, %c1 : index
    scf.for %panel = %begin to %end step %c1 {
      scf.for %i = %c0 to %here step %step {
        %somePlaces = tile.slice %places[%i] : !places -> !somePlaces
        %k = tile.load %somePlaces : !somePlaces -> tensor<$STEPxi64>
        %y = tile.gather %R[%k, %panel] bounds(drop) : !tile.view<$STEPx$COLUMNSx$E>[tensor<$STEPxi64>, index] -> tensor<$STEPx$COLUMNSx$E>
        %x = $WIDEN %y : tensor<$STEPx$COLUMNSx$E> to tensor<$STEPx$COLUMNSx$A>
        %someRows = tile.slice %rows[%i, 0] : !rows -> !someRows
        tile.store %x, %someRows : tensor<$STEPx$COLUMNSx$A>, !someRows
      }
      %panelNth = arith.subi %panel, %begin : index
      %visits = arith.muli %panelNth, %parts : index
      %panelAfter = arith.addi %panel, %c1 : index
      %isLastPanel = arith.cmpi sge, %panelAfter, %end : index
      %nextPanel = arith.select %isLastPanel, %begin, %panelAfter : index
      %nextLine = arith.muli %nextPanel, %vectors : index
      %nextEnd = arith.addi %nextLine, %lastVector : index
      %firstNext = arith.select %isLastPanel, %nextAt, %firstAt : index
      %boundNext = arith.select %isLastPanel, %nextBound, %bound : index
      scf.for %part = %c0 to %parts step %c1 {
        %line = arith.addi %firstLine, %part : index
        %top = arith.muli %part, %height : index
        %visit = arith.addi %visits, %part : index
        %rowsBefore = arith.muli %visit, %rowsEach : index
        %rowsAfter = arith.addi %rowsBefore, %rowsEach : index
        scf.for %one = %rowsBefore to %rowsAfter step %c1 {
          %ahead = arith.addi %nextRow, %one : index
          %N = tile.view %d[%ahead, _] : memref<?x?x$E> to !tile.view<$WIDEx$E>
          scf.for %lineOf = %lineBegin to %lineEnd step %c1 {
            tile.prefetch %N[%lineOf] : !tile.view<$WIDEx$E>
          }
        }
        %turn = arith.muli %part, %quarter : index
        %firstNth = arith.addi %firstNext, %turn : index
        tile.prefetch %C[%line, %panel] write : !tile.view<$LINESx$COLUMNSx$A>
        %sum = scf.for %i = %c0 to %here step %step iter_args(%acc = %start) -> (!result) {
          %done = arith.divui %i, %step : index
          %nth = arith.addi %firstNth, %done : index
          %ahead = tile.call @place(%crd, %nth, %boundNext) : (memref<?x$I>, index, index) -> index
          %N = tile.view %b[%ahead, _] : memref<?x?x$E> to !tile.view<$WIDEx$E>
          scf.for %vector = %nextLine to %nextEnd step %c1 {
            tile.prefetch %N[%vector] : !tile.view<$WIDEx$E>
          }
          %someLines = tile.slice %lines[%top, %i] : !lines -> !someLines
          %someRows = tile.slice %rows[%i, 0] : !rows -> !someRows
          %lhs = tile.load %someLines : !someLines -> tensor<$LINESx$STEPx$A>
          %rhs = tile.load %someRows : !someRows -> tensor<$STEPx$COLUMNSx$A>
          %new = tile.mma %lhs, %rhs, %acc : tensor<$LINESx$STEPx$A>, tensor<$STEPx$COLUMNSx$A> -> !result
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
