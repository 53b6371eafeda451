// Attention of $HEADS of $COUNT heads along the entries of a line, $SOME at a time: as attend_entries, with the scores of
// all heads beside each other.
//   type $A = f32, $P = i32, $I = i32
//   op $MULTIPLY = arith.addf
//   integer $COUNT = 8, $HEADS = 8, $FEATURES = 8, $SOME = 8
//   attribute $LEAST = 0xFF7FFFFF : f32, $HIDDEN = 0xFF800000 : f32
!heads = tensor<$HEADSx$A>
!rows = tensor<$HEADSx$FEATURESx$A>
!places = tensor<$SOMExindex>
!numbers = tensor<$SOMEx$I>
!scores = tensor<$SOMEx$HEADSx$A>
!all = tensor<$SOMEx$HEADSx$FEATURESx$A>
!ends = !tile.view<$HEADSx$A>
!someEnds = !tile.view<$SOMEx$HEADSx$A>
!values = !tile.view<$HEADSx$FEATURESx$A>
!someValues = !tile.view<$SOMEx$HEADSx$FEATURESx$A>
tile.func private @group() -> index
tile.func private @weigh(!scores, index, tensor<$SOMEx$HEADSxindex>) -> !scores
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %q: memref<?x$COUNTx$A>, %k: memref<?x$COUNTx$A>, %b: memref<?x$COUNTx$FEATURESx$A>, %c: memref<?x$COUNTx$FEATURESx$A>) {
  %row = tile.program_id 0
  %group = tile.call @group() : () -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant $SOME : index
  %ones = arith.constant dense<1.0> : !heads
  %none = arith.constant dense<0x0> : !heads
  %least = arith.constant $LEAST
  %lowest = tile.broadcast %least axes [] : $A -> !heads
  %low = arith.constant $HIDDEN
  %hidden = tile.broadcast %low axes [] : $A -> !scores
  %zeros = arith.constant dense<0x0> : !rows
  %nowhere = arith.constant dense<-1> : !numbers
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %last = tile.broadcast %end axes [] : index -> !places
  %Q = tile.view %q[%row, _] : memref<?x$COUNTx$A> to !ends
  %q0 = tile.load %Q[%group] : !ends -> !heads
  %qs = tile.broadcast %q0 axes [0] : !heads -> !scores
  %K = tile.view %k : memref<?x$COUNTx$A> to !someEnds
  %B = tile.view %b : memref<?x$COUNTx$FEATURESx$A> to !someValues
  %C = tile.view %c[%row, _, _] : memref<?x$COUNTx$FEATURESx$A> to !values
  %total:3 = scf.for %p = %begin to %end step %step iter_args(%acc = %zeros, %m = %lowest, %l = %none) -> (!rows, !heads, !heads) {
    %e = tile.iota dim 0 from %p : !places
    %in = arith.cmpi slt, %e, %last : !places
    %at = tile.gather %crd[%e] mask %in other %nowhere bounds(drop) : memref<?x$I>[!places] -> !numbers
    %j = arith.index_cast %at : !numbers to !places
    %columns = tile.broadcast %j axes [1] : !places -> tensor<$SOMEx$HEADSxindex>
    %ins = tile.broadcast %in axes [1] : tensor<$SOMExi1> -> tensor<$SOMEx$HEADSxi1>
    %ks = tile.gather %K[%at, %group] bounds(drop) : !someEnds[!numbers, index] -> !scores
    %score = $MULTIPLY %qs, %ks : !scores
    %weighed = tile.call @weigh(%score, %row, %columns) : (!scores, index, tensor<$SOMEx$HEADSxindex>) -> !scores
    %mapped = arith.select %ins, %weighed, %hidden : tensor<$SOMEx$HEADSxi1>, !scores
    %most = tile.reduce {arith.maximumf} %mapped axes [0] : !scores -> !heads
    %isMore = arith.cmpf ogt, %most, %m : !heads
    %m1 = arith.select %isMore, %most, %m : tensor<$HEADSxi1>, !heads
    %less = arith.subf %m, %m1 : !heads
    %decay = math.exp %less fastmath<afn> : !heads
    %maxima = tile.broadcast %m1 axes [0] : !heads -> !scores
    %difference = arith.subf %mapped, %maxima : !scores
    %w = math.exp %difference fastmath<afn> : !scores
    %y = tile.gather %B[%at, %group, %c0] bounds(drop) : !someValues[!numbers, index, index] -> !all
    %weights = tile.broadcast %w axes [2] : !scores -> !all
    %terms = arith.mulf %weights, %y : !all
    %here = tile.reduce {arith.addf} %terms axes [0] : !all -> !rows
    %decays = tile.broadcast %decay axes [1] : !heads -> !rows
    %sum = math.fma %acc, %decays, %here : !rows
    %part = tile.reduce {arith.addf} %w axes [0] : !scores -> !heads
    %more = math.fma %l, %decay, %part : !heads
    scf.yield %sum, %m1, %more : !rows, !heads, !heads
  }
  %init = tile.load %C[%group, %c0] {tile.initial} : !values -> !rows
  %isSome = arith.cmpi slt, %begin, %end : index
  %part = arith.divf %ones, %total#2 : !heads
  %parts = tile.broadcast %part axes [1] : !heads -> !rows
  %scaled = arith.mulf %total#0, %parts : !rows
  %weighed = arith.select %isSome, %scaled, %zeros : !rows
  %result = arith.addf %init, %weighed : !rows
  tile.store %result, %C[%group, %c0] {tile.final} : !rows, !values
  tile.return
}
