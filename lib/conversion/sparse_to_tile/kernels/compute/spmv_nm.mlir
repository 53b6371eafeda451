// One column of the result. A multiply-add takes some cycles before the next one may add to its sum, so four windows go at
// once, with sums of their own. A window's last units may lie beyond the matrix: they take no part.
//   type $A = f32, $I = i8, $E = f32
//   op $WIDEN = arith.bitcast, $ADD = arith.addf
//   integer $LINES = 8, $UNITS = 4, $KEPT = 4, $ROWS = 32, $WINDOW = 32, $TOGETHER = 1, $PARTS = 4
!sums = tensor<$LINESx$A>
tile.func private @step(!sums, !sums, !sums) -> !sums
tile.func private @taken(index) -> index
tile.kernel @kernel(%crd: memref<?x?x$UNITSx$I>, %val: memref<?x?x$KEPTx$ROWSx$E>, %b: memref<?x1x$E>, %c: memref<?x1x$A>) {
  %group = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %m = arith.constant $WINDOW : index
  %together = arith.constant $TOGETHER : index
  %units = arith.constant $UNITS : index
  %parts = arith.constant $PARTS : index
  %zeros = arith.constant dense<0x0> : !sums
  %windows = memref.dim %crd, %c1 : memref<?x?x$UNITSx$I>
  %rest = arith.remui %windows, %c4 : index
  %whole = arith.subi %windows, %rest : index
  %inner = memref.dim %b, %c0 : memref<?x1x$E>
  %C = tile.view %c[_, %c0] : memref<?x1x$A> to !tile.view<$LINESx$A>
  scf.for %part = %c0 to %parts step %c1 {
    %first = arith.muli %group, %parts : index
    %line = arith.addi %first, %part : index
    %init = tile.load %C[%line] {tile.initial} : !tile.view<$LINESx$A> -> !sums
    %sums:4 = scf.for %w0 = %c0 to %whole step %c4 iter_args(%a0 = %init, %a1 = %zeros, %a2 = %zeros, %a3 = %zeros) -> (!sums, !sums, !sums, !sums) {
      %w1 = arith.addi %w0, %c1 : index
      %w2 = arith.addi %w0, %c2 : index
      %w3 = arith.addi %w0, %c3 : index
      %all:4 = scf.for %u = %c0 to %units step %c1 iter_args(%b0 = %a0, %b1 = %a1, %b2 = %a2, %b3 = %a3) -> (!sums, !sums, !sums, !sums) {
        %kept = arith.muli %u, %together : index
        %at0 = memref.load %crd[%group, %w0, %u] : memref<?x?x$UNITSx$I>
        %place0 = arith.index_castui %at0 : $I to index
        %offset0 = arith.muli %place0, %together : index
        %base0 = arith.muli %w0, %m : index
        %k0 = arith.addi %base0, %offset0 : index
        %left0 = arith.subi %inner, %k0 : index
        %some0 = arith.minsi %left0, %together : index
        %here0 = tile.call @taken(%some0) : (index) -> index
        %more0 = scf.for %i = %c0 to %here0 step %c1 iter_args(%acc = %b0) -> (!sums) {
          %k = arith.addi %k0, %i : index
          %n = arith.addi %kept, %i : index
          %V = tile.view %val[%group, %w0, %n, _] : memref<?x?x$KEPTx$ROWSx$E> to !tile.view<$LINESx$E>
          %v = tile.load %V[%part] : !tile.view<$LINESx$E> -> tensor<$LINESx$E>
          %x = memref.load %b[%k, %c0] : memref<?x1x$E>
          %vw = $WIDEN %v : tensor<$LINESx$E> to !sums
          %xw = $WIDEN %x : $E to $A
          %rhs = tile.broadcast %xw axes [] : $A -> !sums
          %new = tile.call @step(%acc, %vw, %rhs) : (!sums, !sums, !sums) -> !sums
          scf.yield %new : !sums
        }
        %at1 = memref.load %crd[%group, %w1, %u] : memref<?x?x$UNITSx$I>
        %place1 = arith.index_castui %at1 : $I to index
        %offset1 = arith.muli %place1, %together : index
        %base1 = arith.muli %w1, %m : index
        %k1 = arith.addi %base1, %offset1 : index
        %left1 = arith.subi %inner, %k1 : index
        %some1 = arith.minsi %left1, %together : index
        %here1 = tile.call @taken(%some1) : (index) -> index
        %more1 = scf.for %i = %c0 to %here1 step %c1 iter_args(%acc = %b1) -> (!sums) {
          %k = arith.addi %k1, %i : index
          %n = arith.addi %kept, %i : index
          %V = tile.view %val[%group, %w1, %n, _] : memref<?x?x$KEPTx$ROWSx$E> to !tile.view<$LINESx$E>
          %v = tile.load %V[%part] : !tile.view<$LINESx$E> -> tensor<$LINESx$E>
          %x = memref.load %b[%k, %c0] : memref<?x1x$E>
          %vw = $WIDEN %v : tensor<$LINESx$E> to !sums
          %xw = $WIDEN %x : $E to $A
          %rhs = tile.broadcast %xw axes [] : $A -> !sums
          %new = tile.call @step(%acc, %vw, %rhs) : (!sums, !sums, !sums) -> !sums
          scf.yield %new : !sums
        }
        %at2 = memref.load %crd[%group, %w2, %u] : memref<?x?x$UNITSx$I>
        %place2 = arith.index_castui %at2 : $I to index
        %offset2 = arith.muli %place2, %together : index
        %base2 = arith.muli %w2, %m : index
        %k2 = arith.addi %base2, %offset2 : index
        %left2 = arith.subi %inner, %k2 : index
        %some2 = arith.minsi %left2, %together : index
        %here2 = tile.call @taken(%some2) : (index) -> index
        %more2 = scf.for %i = %c0 to %here2 step %c1 iter_args(%acc = %b2) -> (!sums) {
          %k = arith.addi %k2, %i : index
          %n = arith.addi %kept, %i : index
          %V = tile.view %val[%group, %w2, %n, _] : memref<?x?x$KEPTx$ROWSx$E> to !tile.view<$LINESx$E>
          %v = tile.load %V[%part] : !tile.view<$LINESx$E> -> tensor<$LINESx$E>
          %x = memref.load %b[%k, %c0] : memref<?x1x$E>
          %vw = $WIDEN %v : tensor<$LINESx$E> to !sums
          %xw = $WIDEN %x : $E to $A
          %rhs = tile.broadcast %xw axes [] : $A -> !sums
          %new = tile.call @step(%acc, %vw, %rhs) : (!sums, !sums, !sums) -> !sums
          scf.yield %new : !sums
        }
        %at3 = memref.load %crd[%group, %w3, %u] : memref<?x?x$UNITSx$I>
        %place3 = arith.index_castui %at3 : $I to index
        %offset3 = arith.muli %place3, %together : index
        %base3 = arith.muli %w3, %m : index
        %k3 = arith.addi %base3, %offset3 : index
        %left3 = arith.subi %inner, %k3 : index
        %some3 = arith.minsi %left3, %together : index
        %here3 = tile.call @taken(%some3) : (index) -> index
        %more3 = scf.for %i = %c0 to %here3 step %c1 iter_args(%acc = %b3) -> (!sums) {
          %k = arith.addi %k3, %i : index
          %n = arith.addi %kept, %i : index
          %V = tile.view %val[%group, %w3, %n, _] : memref<?x?x$KEPTx$ROWSx$E> to !tile.view<$LINESx$E>
          %v = tile.load %V[%part] : !tile.view<$LINESx$E> -> tensor<$LINESx$E>
          %x = memref.load %b[%k, %c0] : memref<?x1x$E>
          %vw = $WIDEN %v : tensor<$LINESx$E> to !sums
          %xw = $WIDEN %x : $E to $A
          %rhs = tile.broadcast %xw axes [] : $A -> !sums
          %new = tile.call @step(%acc, %vw, %rhs) : (!sums, !sums, !sums) -> !sums
          scf.yield %new : !sums
        }
        scf.yield %more0, %more1, %more2, %more3 : !sums, !sums, !sums, !sums
      }
      scf.yield %all#0, %all#1, %all#2, %all#3 : !sums, !sums, !sums, !sums
    }
    %s0 = $ADD %sums#0, %sums#1 : !sums
    %s1 = $ADD %sums#2, %sums#3 : !sums
    %s2 = $ADD %s0, %s1 : !sums
    %sum = scf.for %w0 = %whole to %windows step %c1 iter_args(%a0 = %s2) -> (!sums) {
      %all = scf.for %u = %c0 to %units step %c1 iter_args(%b0 = %a0) -> (!sums) {
        %kept = arith.muli %u, %together : index
        %at0 = memref.load %crd[%group, %w0, %u] : memref<?x?x$UNITSx$I>
        %place0 = arith.index_castui %at0 : $I to index
        %offset0 = arith.muli %place0, %together : index
        %base0 = arith.muli %w0, %m : index
        %k0 = arith.addi %base0, %offset0 : index
        %left0 = arith.subi %inner, %k0 : index
        %some0 = arith.minsi %left0, %together : index
        %here0 = tile.call @taken(%some0) : (index) -> index
        %more0 = scf.for %i = %c0 to %here0 step %c1 iter_args(%acc = %b0) -> (!sums) {
          %k = arith.addi %k0, %i : index
          %n = arith.addi %kept, %i : index
          %V = tile.view %val[%group, %w0, %n, _] : memref<?x?x$KEPTx$ROWSx$E> to !tile.view<$LINESx$E>
          %v = tile.load %V[%part] : !tile.view<$LINESx$E> -> tensor<$LINESx$E>
          %x = memref.load %b[%k, %c0] : memref<?x1x$E>
          %vw = $WIDEN %v : tensor<$LINESx$E> to !sums
          %xw = $WIDEN %x : $E to $A
          %rhs = tile.broadcast %xw axes [] : $A -> !sums
          %new = tile.call @step(%acc, %vw, %rhs) : (!sums, !sums, !sums) -> !sums
          scf.yield %new : !sums
        }
        scf.yield %more0 : !sums
      }
      scf.yield %all : !sums
    }
    tile.store %sum, %C[%line] {tile.final} : !sums, !tile.view<$LINESx$A>
  }
  tile.return
}
