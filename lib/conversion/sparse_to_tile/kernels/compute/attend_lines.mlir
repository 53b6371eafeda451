// Attention along the entries of a line, $CHUNK at a time: their scores, one by one, then the weights of all, by which
// rows of %b are added up. The softmax is online (Milakov and Gimelshein 2018): where a later chunk has a greater
// maximum, what was added up before is scaled. The maximum starts at the lowest number, so that a chunk of -inf leaves
// everything as it is.
//   type $A = f32, $P = i32, $I = i32
//   op $MULTIPLY = arith.addf, $ADD = arith.maximumf
//   integer $LANES = 16, $CHUNK = 128, $COLUMNS = 64, $DEPTH = 1
//   attribute $LEAST = 0xFF7FFFFF : f32
!lanes = tensor<$LANESx$A>
!row = tensor<$COLUMNSx$A>
!scores = !tile.buffer<$CHUNKx$A, #tile.layout<offset [$CHUNK:d0]>, local>
!some = !tile.buffer<$LANESx$A, #tile.layout<offset [$LANES:d0]>, local>
!score = !tile.buffer<1x$A, #tile.layout<offset []>, local>
tile.func private @weigh($A, index, index) -> $A
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %q: memref<?x?x$A>, %k: memref<?x?x$A>, %b: memref<?x?x$A>, %c: memref<?x?x$A>) {
  %row = tile.program_id 0
  %col = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lanes = arith.constant $LANES : index
  %chunk = arith.constant $CHUNK : index
  %depth = arith.constant $DEPTH : index
  %one = arith.constant 1.0 : $A
  %none = arith.constant 0.0 : $A
  %lowest = arith.constant $LEAST
  %zeros = arith.constant dense<0x0> : !row
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %C = tile.view %c[%row, _] : memref<?x?x$A> to !tile.view<$COLUMNSx$A>
  %scores = tile.alloc : !scores
  %total:3 = scf.for %e = %begin to %end step %chunk iter_args(%acc = %zeros, %m = %lowest, %l = %none) -> (!row, $A, $A) {
    %left = arith.subi %end, %e : index
    %here = arith.minsi %left, %chunk : index
    %m1 = scf.for %n = %c0 to %here step %c1 iter_args(%most = %m) -> ($A) {
      %p = arith.addi %e, %n : index
      %at = memref.load %crd[%p] : memref<?x$I>
      %j = arith.index_cast %at : $I to index
      %q0 = memref.load %q[%row, %c0] : memref<?x?x$A>
      %k0 = memref.load %k[%j, %c0] : memref<?x?x$A>
      %t0 = $MULTIPLY %q0, %k0 : $A
      %score = scf.for %d = %c1 to %depth step %c1 iter_args(%sum = %t0) -> ($A) {
        %qd = memref.load %q[%row, %d] : memref<?x?x$A>
        %kd = memref.load %k[%j, %d] : memref<?x?x$A>
        %td = $MULTIPLY %qd, %kd : $A
        %new = $ADD %sum, %td : $A
        scf.yield %new : $A
      }
      %mapped = tile.call @weigh(%score, %row, %j) : ($A, index, index) -> $A
      %place = tile.slice %scores[%n] : !scores -> !score
      %tile = tile.broadcast %mapped axes [] : $A -> tensor<1x$A>
      tile.store %tile, %place : tensor<1x$A>, !score
      %isMore = arith.cmpf ogt, %mapped, %most : $A
      %new = arith.select %isMore, %mapped, %most : $A
      scf.yield %new : $A
    }
    %maxima = tile.broadcast %m1 axes [] : $A -> !lanes
    scf.for %n = %c0 to %here step %lanes {
      %part = tile.slice %scores[%n] : !scores -> !some
      %x = tile.load %part : !some -> !lanes
      %difference = arith.subf %x, %maxima : !lanes
      %w = math.exp %difference fastmath<afn> : !lanes
      tile.store %w, %part : !lanes, !some
    }
    %isLater = arith.cmpi sgt, %e, %begin : index
    %old:2 = scf.if %isLater -> (!row, $A) {
      %less = arith.subf %m, %m1 : $A
      %decay = math.exp %less fastmath<afn> : $A
      %decays = tile.broadcast %decay axes [] : $A -> !row
      %scaled = arith.mulf %acc, %decays : !row
      %lScaled = arith.mulf %l, %decay : $A
      scf.yield %scaled, %lScaled : !row, $A
    } else {
      scf.yield %acc, %l : !row, $A
    }
    %sum:2 = scf.for %n = %c0 to %here step %c1 iter_args(%some = %old#0, %weights = %old#1) -> (!row, $A) {
      %p = arith.addi %e, %n : index
      %at = memref.load %crd[%p] : memref<?x$I>
      %j = arith.index_cast %at : $I to index
      %place = tile.slice %scores[%n] : !scores -> !score
      %tile = tile.load %place : !score -> tensor<1x$A>
      %w = tile.reduce {arith.addf} %tile axes [0] : tensor<1x$A> -> $A
      %lhs = tile.broadcast %w axes [] : $A -> !row
      %B = tile.view %b[%j, _] : memref<?x?x$A> to !tile.view<$COLUMNSx$A>
      %y = tile.load %B[%col] : !tile.view<$COLUMNSx$A> -> !row
      %new = math.fma %lhs, %y, %some : !row
      %all = arith.addf %weights, %w : $A
      scf.yield %new, %all : !row, $A
    }
    scf.yield %sum#0, %m1, %sum#1 : !row, $A, $A
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
