// Attention along the entries of a line, $SOME at a time, for threads that share a row of sums: the kernel attend_lines
// without scores in memory. Threads take the scores of different entries. The softmax is online: where an entry has a
// greater score than those before it, what was added up is scaled. Behind the last entry no row of %b is read.
//   type $A = f32, $P = i32, $I = i32
//   op $MULTIPLY = arith.addf, $ADD = arith.maximumf
//   integer $COLUMNS = 64, $DEPTH = 1, $SOME = 8
//   attribute $LEAST = 0xFF7FFFFF : f32, $HIDDEN = 0xFF800000 : f32
!row = tensor<$COLUMNSx$A>
!some = tensor<$SOMEx$A>
!places = tensor<$SOMExindex>
!numbers = tensor<$SOMEx$I>
!rows = tensor<$SOMEx$COLUMNSx$A>
!values = !tile.view<$SOMEx$COLUMNSx$A>
tile.func private @weigh(!some, index, !places) -> !some
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %q: memref<?x?x$A>, %k: memref<?x?x$A>, %b: memref<?x?x$A>, %c: memref<?x?x$A>) {
  %row = tile.program_id 0
  %col = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant $SOME : index
  %depth = arith.constant $DEPTH : index
  %one = arith.constant 1.0 : $A
  %none = arith.constant 0.0 : $A
  %lowest = arith.constant $LEAST
  %low = arith.constant $HIDDEN
  %hidden = tile.broadcast %low axes [] : $A -> !some
  %zeros = arith.constant dense<0x0> : !row
  %nowhere = arith.constant dense<-1> : !numbers
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %ends = tile.broadcast %end axes [] : index -> !places
  %first = tile.broadcast %c0 axes [] : index -> !places
  %B = tile.view %b : memref<?x?x$A> to !values
  %C = tile.view %c[%row, _] : memref<?x?x$A> to !tile.view<$COLUMNSx$A>
  %total:3 = scf.for %p = %begin to %end step %step iter_args(%acc = %zeros, %m = %lowest, %l = %none) -> (!row, $A, $A) {
    %e = tile.iota dim 0 from %p : !places
    %in = arith.cmpi slt, %e, %ends : !places
    %at = tile.gather %crd[%e] mask %in other %nowhere bounds(drop) : memref<?x$I>[!places] -> !numbers
    %j = arith.index_cast %at : !numbers to !places
    %q0 = memref.load %q[%row, %c0] : memref<?x?x$A>
    %qs = tile.broadcast %q0 axes [] : $A -> !some
    %k0 = tile.gather %k[%j, %first] bounds(drop) : memref<?x?x$A>[!places, !places] -> !some
    %t0 = $MULTIPLY %qs, %k0 : !some
    %score = scf.for %d = %c1 to %depth step %c1 iter_args(%sum = %t0) -> (!some) {
      %qd = memref.load %q[%row, %d] : memref<?x?x$A>
      %qds = tile.broadcast %qd axes [] : $A -> !some
      %ds = tile.broadcast %d axes [] : index -> !places
      %kd = tile.gather %k[%j, %ds] bounds(drop) : memref<?x?x$A>[!places, !places] -> !some
      %td = $MULTIPLY %qds, %kd : !some
      %new = $ADD %sum, %td : !some
      scf.yield %new : !some
    }
    %weighed = tile.call @weigh(%score, %row, %j) : (!some, index, !places) -> !some
    %mapped = arith.select %in, %weighed, %hidden : tensor<$SOMExi1>, !some
    %most = tile.reduce {arith.maximumf} %mapped axes [0] : !some -> $A
    %isMore = arith.cmpf ogt, %most, %m : $A
    %m1 = arith.select %isMore, %most, %m : $A
    %less = arith.subf %m, %m1 : $A
    %decay = math.exp %less fastmath<afn> : $A
    %maxima = tile.broadcast %m1 axes [] : $A -> !some
    %difference = arith.subf %mapped, %maxima : !some
    %w = math.exp %difference fastmath<afn> : !some
    %y = tile.gather %B[%at, %col] bounds(drop) : !values[!numbers, index] -> !rows
    %weights = tile.broadcast %w axes [1] : !some -> !rows
    %terms = arith.mulf %weights, %y : !rows
    %here = tile.reduce {arith.addf} %terms axes [0] : !rows -> !row
    %decays = tile.broadcast %decay axes [] : $A -> !row
    %sum = math.fma %acc, %decays, %here : !row
    %part = tile.reduce {arith.addf} %w axes [0] : !some -> $A
    %all = math.fma %l, %decay, %part : $A
    scf.yield %sum, %m1, %all : !row, $A, $A
  }
  %init = tile.load %C[%col] {tile.initial} : !tile.view<$COLUMNSx$A> -> !row
  %isSome = arith.cmpi slt, %begin, %end : index
  %part = arith.divf %one, %total#2 : $A
  %parts = tile.broadcast %part axes [] : $A -> !row
  %scaled = arith.mulf %total#0, %parts : !row
  %weighed = arith.select %isSome, %scaled, %zeros : !row
  %result = arith.addf %init, %weighed : !row
  tile.store %result, %C[%col] {tile.final} : !row, !tile.view<$COLUMNSx$A>
  tile.return
}
