// A block of rows, times tiles of the matrices of the groups that have rows in it: a product for each, of which the rows
// of other groups count nothing. Two searches find the first group and the one behind the last.
//   type $E = f32, $A = f32, $F = f32, $S = f32, $P = i32, $I = i32
//   op $WIDEN = arith.bitcast, $BEGIN = arith.bitcast, $ADD = arith.addf, $END = arith.bitcast
//   integer $ROWS = 16, $COLUMNS = 32, $DEPTH = 16
!rows = tensor<$ROWSxindex>
!sums = tensor<$ROWSx$COLUMNSx$S>
!result = tensor<$ROWSx$COLUMNSx$A>
!results = !tile.view<$ROWSx$COLUMNSx$A>
!factor = tensor<$DEPTHx$COLUMNSx$E>
tile.func private @from(memref<?x$I>, !rows) -> !rows
tile.func private @to(memref<?x$I>, !rows) -> !rows
tile.func private @factor(memref<?x?x?x$E>, index, index, index) -> !factor
tile.func private @read(!results, !rows, index) -> !result
tile.kernel @kernel(%x: memref<?x?x$E>, %w: memref<?x?x?x$E>, %pos: memref<?x$P>, %crd: memref<?x$I>, %c: memref<?x?x$A>) {
  %tile = tile.program_id 0
  %col = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %height = arith.constant $ROWS : index
  %depth = arith.constant $DEPTH : index
  %c2 = arith.constant 2 : index
  %halvings = arith.constant 40 : index
  %ends = memref.dim %pos, %c0 : memref<?x$P>
  %groups = arith.subi %ends, %c1 : index
  %listed = memref.load %pos[%groups] : memref<?x$P>
  %all = arith.index_cast %listed : $P to index
  %first = arith.muli %tile, %height : index
  %after = arith.addi %first, %height : index
  %stop = arith.minsi %after, %all : index
  %last = arith.subi %stop, %c1 : index
  %from0, %from1, %to0, %to1 = scf.for %i = %c0 to %halvings step %c1 iter_args(%a0 = %c0, %a1 = %ends, %b0 = %c0, %b1 = %ends) -> (index, index, index, index) {
    %aSum = arith.addi %a0, %a1 : index
    %a = arith.divui %aSum, %c2 : index
    %bSum = arith.addi %b0, %b1 : index
    %b = arith.divui %bSum, %c2 : index
    %pa = memref.load %pos[%a] : memref<?x$P>
    %pb = memref.load %pos[%b] : memref<?x$P>
    %qa = arith.index_cast %pa : $P to index
    %qb = arith.index_cast %pb : $P to index
    %aIsBehind = arith.cmpi sle, %qa, %first : index
    %bIsBehind = arith.cmpi sle, %qb, %last : index
    %newA0 = arith.select %aIsBehind, %a, %a0 : index
    %newA1 = arith.select %aIsBehind, %a1, %a : index
    %newB0 = arith.select %bIsBehind, %b, %b0 : index
    %newB1 = arith.select %bIsBehind, %b1, %b : index
    scf.yield %newA0, %newA1, %newB0, %newB1 : index, index, index, index
  }
  %firstGroup = arith.minsi %from0, %groups : index
  %groupAfter = arith.minsi %to1, %groups : index
  %inner = memref.dim %x, %c1 : memref<?x?x$E>
  %full = arith.ceildivui %inner, %depth : index
  %X = tile.view %x : memref<?x?x$E> to !tile.view<$ROWSx$DEPTHx$E>
  %C = tile.view %c : memref<?x?x$A> to !results
  %none = arith.constant dense<-1> : !rows
  %place = tile.iota dim 0 from %first : !rows
  %start = arith.constant dense<0x0> : !sums
  scf.for %group = %firstGroup to %groupAfter step %c1 {
    %next = arith.addi %group, %c1 : index
    %p0 = memref.load %pos[%group] : memref<?x$P>
    %p1 = memref.load %pos[%next] : memref<?x$P>
    %begin = arith.index_cast %p0 : $P to index
    %q1 = arith.index_cast %p1 : $P to index
    %end = arith.minsi %q1, %stop : index
    %isAny = arith.cmpi slt, %begin, %end : index
    %steps = arith.select %isAny, %full, %c0 : index
    %begins = tile.broadcast %begin axes [] : index -> !rows
    %bounds = tile.broadcast %end axes [] : index -> !rows
    %isAhead = arith.cmpi sge, %place, %begins : !rows
    %isBehind = arith.cmpi slt, %place, %bounds : !rows
    %isRow = arith.andi %isAhead, %isBehind : tensor<$ROWSxi1>
    %row = arith.select %isRow, %place, %none : tensor<$ROWSxi1>, !rows
    %from = tile.call @from(%crd, %row) : (memref<?x$I>, !rows) -> !rows
    %to = tile.call @to(%crd, %row) : (memref<?x$I>, !rows) -> !rows
    %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %start) -> (!sums) {
      %x0 = tile.gather %X[%from, %k] bounds(drop) : !tile.view<$ROWSx$DEPTHx$E>[!rows, index] -> tensor<$ROWSx$DEPTHx$E>
      %w0 = tile.call @factor(%w, %group, %k, %col) : (memref<?x?x?x$E>, index, index, index) -> !factor
      %x1 = $WIDEN %x0 : tensor<$ROWSx$DEPTHx$E> to tensor<$ROWSx$DEPTHx$F>
      %w1 = $WIDEN %w0 : !factor to tensor<$DEPTHx$COLUMNSx$F>
      %new = tile.mma %x1, %w1, %acc : tensor<$ROWSx$DEPTHx$F>, tensor<$DEPTHx$COLUMNSx$F> -> !sums
      scf.yield %new : !sums
    }
    %init = tile.call @read(%C, %to, %col) : (!results, !rows, index) -> !result
    %wide = $BEGIN %init : !result to !sums
    %total = $ADD %sum, %wide : !sums
    %result = $END %total : !sums to !result
    tile.scatter %result, %C[%to, %col] bounds(drop) : !result, !results[!rows, index]
  }
  tile.return
}
