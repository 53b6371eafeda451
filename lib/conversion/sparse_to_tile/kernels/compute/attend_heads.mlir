// Attention of $HEADS of $COUNT heads along the entries of a line, as the kernel attend_lines does it for one: a line's entries are
// read once for all heads, whose scores and whose rows of %b stand side by side. Exponentials are taken $SOME at a time,
// $TIMES entries; scores behind the last entry mean nothing.
//   type $A = f32, $P = i32, $I = i32
//   op $MULTIPLY = arith.addf
//   integer $COUNT = 8, $HEADS = 8, $FEATURES = 8, $SOME = 16, $TIMES = 2, $CHUNK = 64, $ALL = 512
//   attribute $LEAST = 0xFF7FFFFF : f32
!heads = tensor<$HEADSx$A>
!rows = tensor<$HEADSx$FEATURESx$A>
!some = tensor<$SOMEx$A>
!scores = !tile.buffer<$ALLx$A, #tile.layout<offset [$ALL:d0]>, local>
!part = !tile.buffer<$SOMEx$A, #tile.layout<offset [$SOME:d0]>, local>
!score = !tile.buffer<$HEADSx$A, #tile.layout<offset [$HEADS:d0]>, local>
!ends = !tile.view<$HEADSx$A>
!values = !tile.view<$HEADSx$FEATURESx$A>
tile.func private @group() -> index
tile.func private @weigh(!heads, index, index) -> !heads
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %q: memref<?x$COUNTx$A>, %k: memref<?x$COUNTx$A>, %b: memref<?x$COUNTx$FEATURESx$A>, %c: memref<?x$COUNTx$FEATURESx$A>) {
  %row = tile.program_id 0
  %group = tile.call @group() : () -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %heads = arith.constant $HEADS : index
  %some = arith.constant $SOME : index
  %chunk = arith.constant $CHUNK : index
  %ones = arith.constant dense<1.0> : !heads
  %none = arith.constant dense<0x0> : !heads
  %low = arith.constant $LEAST
  %lowest = tile.broadcast %low axes [] : $A -> !heads
  %zeros = arith.constant dense<0x0> : !rows
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %Q = tile.view %q[%row, _] : memref<?x$COUNTx$A> to !ends
  %q0 = tile.load %Q[%group] : !ends -> !heads
  %C = tile.view %c[%row, _, _] : memref<?x$COUNTx$FEATURESx$A> to !values
  %scores = tile.alloc : !scores
  %total:3 = scf.for %e = %begin to %end step %chunk iter_args(%acc = %zeros, %m = %lowest, %l = %none) -> (!rows, !heads, !heads) {
    %left = arith.subi %end, %e : index
    %here = arith.minsi %left, %chunk : index
    %m1 = scf.for %n = %c0 to %here step %c1 iter_args(%most = %m) -> (!heads) {
      %p = arith.addi %e, %n : index
      %at = memref.load %crd[%p] : memref<?x$I>
      %j = arith.index_cast %at : $I to index
      %K = tile.view %k[%j, _] : memref<?x$COUNTx$A> to !ends
      %k0 = tile.load %K[%group] : !ends -> !heads
      %score = $MULTIPLY %q0, %k0 : !heads
      %mapped = tile.call @weigh(%score, %row, %j) : (!heads, index, index) -> !heads
      %offset = arith.muli %n, %heads : index
      %place = tile.slice %scores[%offset] : !scores -> !score
      tile.store %mapped, %place : !heads, !score
      %isMore = arith.cmpf ogt, %mapped, %most : !heads
      %new = arith.select %isMore, %mapped, %most : tensor<$HEADSxi1>, !heads
      scf.yield %new : !heads
    }
    %repeated = tile.broadcast %m1 axes [0] : !heads -> tensor<$TIMESx$HEADSx$A>
    %maxima = tile.reshape %repeated : tensor<$TIMESx$HEADSx$A> -> !some
    %all = arith.muli %here, %heads : index
    scf.for %n = %c0 to %all step %some {
      %part = tile.slice %scores[%n] : !scores -> !part
      %x = tile.load %part : !part -> !some
      %difference = arith.subf %x, %maxima : !some
      %w = math.exp %difference fastmath<afn> : !some
      tile.store %w, %part : !some, !part
    }
    %isLater = arith.cmpi sgt, %e, %begin : index
    %old:2 = scf.if %isLater -> (!rows, !heads) {
      %less = arith.subf %m, %m1 : !heads
      %decay = math.exp %less fastmath<afn> : !heads
      %decays = tile.broadcast %decay axes [1] : !heads -> !rows
      %scaled = arith.mulf %acc, %decays : !rows
      %lScaled = arith.mulf %l, %decay : !heads
      scf.yield %scaled, %lScaled : !rows, !heads
    } else {
      scf.yield %acc, %l : !rows, !heads
    }
    %sum:2 = scf.for %n = %c0 to %here step %c1 iter_args(%sofar = %old#0, %weights = %old#1) -> (!rows, !heads) {
      %p = arith.addi %e, %n : index
      %at = memref.load %crd[%p] : memref<?x$I>
      %j = arith.index_cast %at : $I to index
      %offset = arith.muli %n, %heads : index
      %place = tile.slice %scores[%offset] : !scores -> !score
      %w = tile.load %place : !score -> !heads
      %lhs = tile.broadcast %w axes [1] : !heads -> !rows
      %B = tile.view %b[%j, _, _] : memref<?x$COUNTx$FEATURESx$A> to !values
      %y = tile.load %B[%group, %c0] : !values -> !rows
      %new = math.fma %lhs, %y, %sofar : !rows
      %more = arith.addf %weights, %w : !heads
      scf.yield %new, %more : !rows, !heads
    }
    scf.yield %sum#0, %m1, %sum#1 : !rows, !heads, !heads
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
