// $LINES lines of a dense matrix, at the columns of their list, times those rows of b: $DEPTH of both are gathered as they
// are loaded. @hidesSome says whether the mask hides elements among the columns of the list, which @fetch and @load then
// leave out. Where @isDense says so of the columns and all there are, the list is not read: both are loaded as they lie.
//   type $E = f32, $A = f32, $F = f32, $S = f32, $M = memref<?x?xi1>
//   op $WIDEN = arith.bitcast, $BEGIN = arith.bitcast, $END = arith.bitcast
//   integer $LINES = 32, $COLUMNS = 64, $DEPTH = 16, $TOGETHER = 1
//   attribute $WARPS = 4 : i32
!lhs = tensor<$LINESx$DEPTHx$E>
!rhs = tensor<$DEPTHx$COLUMNSx$E>
!sums = tensor<$LINESx$COLUMNSx$S>
!result = tensor<$LINESx$COLUMNSx$A>
!places = tensor<$DEPTHxindex>
!listed = !tile.view<$LINESx$DEPTHx$E>
tile.func private @hidesSome(i32) -> i1
tile.func private @isDense(index, index, i1) -> i1
tile.func private @load($M, !listed, index, index, i1) -> !lhs
tile.func private @fetch($M, !listed, index, !places, i1) -> !lhs
tile.kernel @kernel(%list: memref<?x?xi32>, %mask: $M, %d: memref<?x?x$E>, %b: memref<?x?x$E>, %c: memref<?x?x$A>) attributes {warps = $WARPS} {
  %group = tile.program_id 0
  %col = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %depth = arith.constant $DEPTH : index
  %of = arith.constant $TOGETHER : index
  %inner = memref.dim %b, %c0 : memref<?x?x$E>
  %D = tile.view %d : memref<?x?x$E> to !listed
  %R = tile.view %b : memref<?x?x$E> to !tile.view<$DEPTHx$COLUMNSx$E>
  %C = tile.view %c : memref<?x?x$A> to !tile.view<$LINESx$COLUMNSx$A>
  %L = tile.view %list[%group, _] : memref<?x?xi32> to !tile.view<$DEPTHxi32>
  %begins = memref.load %list[%group, %c0] : memref<?x?xi32>
  %twice = arith.index_cast %begins : i32 to index
  %columns = arith.divui %twice, %c2 : index
  %members = arith.muli %columns, %of : index
  %steps = arith.ceildivui %members, %depth : index
  %full = arith.ceildivui %inner, %depth : index
  %hidesSome = tile.call @hidesSome(%begins) : (i32) -> i1
  %isDense = tile.call @isDense(%members, %inner, %hidesSome) : (index, index, i1) -> i1
  %none = arith.constant dense<-1> : !places
  %one = arith.constant dense<1> : !places
  %together = arith.constant dense<$TOGETHER> : !places
  %inners = tile.broadcast %inner axes [] : index -> !places
  %before = tile.load %C[%group, %col] {tile.initial} : !tile.view<$LINESx$COLUMNSx$A> -> !result
  %start = $BEGIN %before : !result to !sums
  %sum = scf.if %isDense -> (!sums) {
    %dense = scf.for %k = %c0 to %full step %c1 iter_args(%acc = %start) -> (!sums) {
      %x = tile.call @load(%mask, %D, %group, %k, %hidesSome) : ($M, !listed, index, index, i1) -> !lhs
      %y = tile.load %R[%k, %col] : !tile.view<$DEPTHx$COLUMNSx$E> -> !rhs
      %lhs = $WIDEN %x : !lhs to tensor<$LINESx$DEPTHx$F>
      %rhs = $WIDEN %y : !rhs to tensor<$DEPTHx$COLUMNSx$F>
      %new = tile.mma %lhs, %rhs, %acc : tensor<$LINESx$DEPTHx$F>, tensor<$DEPTHx$COLUMNSx$F> -> !sums
      scf.yield %new : !sums
    }
    scf.yield %dense : !sums
  } else {
    %gathered = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %start) -> (!sums) {
      %first = arith.muli %k, %depth : index
      %p = tile.iota dim 0 from %first : !places
      %unit = arith.divui %p, %together : !places
      %at = arith.addi %unit, %one : !places
      %column = tile.gather %L[%at] bounds(drop) : !tile.view<$DEPTHxi32>[!places] -> tensor<$DEPTHxi32>
      %number = arith.index_castui %column : tensor<$DEPTHxi32> to !places
      %corner = arith.muli %number, %together : !places
      %member = arith.remui %p, %together : !places
      %at1 = arith.addi %corner, %member : !places
      %isRow = arith.cmpi slt, %at1, %inners : !places
      %row = arith.select %isRow, %at1, %none : tensor<$DEPTHxi1>, !places
      %x = tile.call @fetch(%mask, %D, %group, %row, %hidesSome) : ($M, !listed, index, !places, i1) -> !lhs
      %y = tile.gather %R[%row, %col] bounds(drop) : !tile.view<$DEPTHx$COLUMNSx$E>[!places, index] -> !rhs
      %lhs = $WIDEN %x : !lhs to tensor<$LINESx$DEPTHx$F>
      %rhs = $WIDEN %y : !rhs to tensor<$DEPTHx$COLUMNSx$F>
      %new = tile.mma %lhs, %rhs, %acc : tensor<$LINESx$DEPTHx$F>, tensor<$DEPTHx$COLUMNSx$F> -> !sums
      scf.yield %new : !sums
    }
    scf.yield %gathered : !sums
  }
  %result = $END %sum : !sums to !result
  tile.store %result, %C[%group, %col] {tile.final} : !result, !tile.view<$LINESx$COLUMNSx$A>
  tile.return
}
