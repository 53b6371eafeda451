// One column of the result, where each line keeps places of its own: the window of the dense factor is a table in
// registers, in which all kept places are looked up at once. Four windows go at once, with sums of their own.
//   type $A = f32, $I = i8
//   op $ADD = arith.addf
//   integer $KEPT = 16, $WINDOW = 32, $WINDOWS = 64
!sums = tensor<$KEPTx$A>
!places = tensor<$KEPTxi32>
tile.func private @step(!sums, !sums, !sums) -> !sums
tile.kernel @kernel(%crd: memref<?x$WINDOWSx$KEPTx$I>, %val: memref<?x$WINDOWSx$KEPTx1x$A>, %b: memref<$WINDOWSx$WINDOWx$A>, %c: memref<?x1x$A>) {
  %line = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %windows = arith.constant $WINDOWS : index
  %zeros = arith.constant dense<0x0> : !sums
  %rest = arith.remui %windows, %c4 : index
  %whole = arith.subi %windows, %rest : index
  %sums:4 = scf.for %w0 = %c0 to %whole step %c4 iter_args(%a0 = %zeros, %a1 = %zeros, %a2 = %zeros, %a3 = %zeros) -> (!sums, !sums, !sums, !sums) {
    %w1 = arith.addi %w0, %c1 : index
    %w2 = arith.addi %w0, %c2 : index
    %w3 = arith.addi %w0, %c3 : index
    %I0 = tile.view %crd[%line, %w0, _] : memref<?x$WINDOWSx$KEPTx$I> to !tile.view<$KEPTx$I>
    %at0 = tile.load %I0[%c0] : !tile.view<$KEPTx$I> -> tensor<$KEPTx$I>
    %places0 = arith.extui %at0 : tensor<$KEPTx$I> to !places
    %T0 = tile.view %b[%w0, _] : memref<$WINDOWSx$WINDOWx$A> to !tile.view<$WINDOWx$A>
    %t0 = tile.load %T0[%c0] : !tile.view<$WINDOWx$A> -> tensor<$WINDOWx$A>
    %x0 = tile.gather %t0[%places0] axis 0 bounds(clamp) : tensor<$WINDOWx$A>[!places] -> !sums
    %V0 = tile.view %val[%line, %w0, _, %c0] : memref<?x$WINDOWSx$KEPTx1x$A> to !tile.view<$KEPTx$A>
    %v0 = tile.load %V0[%c0] : !tile.view<$KEPTx$A> -> !sums
    %new0 = tile.call @step(%a0, %v0, %x0) : (!sums, !sums, !sums) -> !sums
    %I1 = tile.view %crd[%line, %w1, _] : memref<?x$WINDOWSx$KEPTx$I> to !tile.view<$KEPTx$I>
    %at1 = tile.load %I1[%c0] : !tile.view<$KEPTx$I> -> tensor<$KEPTx$I>
    %places1 = arith.extui %at1 : tensor<$KEPTx$I> to !places
    %T1 = tile.view %b[%w1, _] : memref<$WINDOWSx$WINDOWx$A> to !tile.view<$WINDOWx$A>
    %t1 = tile.load %T1[%c0] : !tile.view<$WINDOWx$A> -> tensor<$WINDOWx$A>
    %x1 = tile.gather %t1[%places1] axis 0 bounds(clamp) : tensor<$WINDOWx$A>[!places] -> !sums
    %V1 = tile.view %val[%line, %w1, _, %c0] : memref<?x$WINDOWSx$KEPTx1x$A> to !tile.view<$KEPTx$A>
    %v1 = tile.load %V1[%c0] : !tile.view<$KEPTx$A> -> !sums
    %new1 = tile.call @step(%a1, %v1, %x1) : (!sums, !sums, !sums) -> !sums
    %I2 = tile.view %crd[%line, %w2, _] : memref<?x$WINDOWSx$KEPTx$I> to !tile.view<$KEPTx$I>
    %at2 = tile.load %I2[%c0] : !tile.view<$KEPTx$I> -> tensor<$KEPTx$I>
    %places2 = arith.extui %at2 : tensor<$KEPTx$I> to !places
    %T2 = tile.view %b[%w2, _] : memref<$WINDOWSx$WINDOWx$A> to !tile.view<$WINDOWx$A>
    %t2 = tile.load %T2[%c0] : !tile.view<$WINDOWx$A> -> tensor<$WINDOWx$A>
    %x2 = tile.gather %t2[%places2] axis 0 bounds(clamp) : tensor<$WINDOWx$A>[!places] -> !sums
    %V2 = tile.view %val[%line, %w2, _, %c0] : memref<?x$WINDOWSx$KEPTx1x$A> to !tile.view<$KEPTx$A>
    %v2 = tile.load %V2[%c0] : !tile.view<$KEPTx$A> -> !sums
    %new2 = tile.call @step(%a2, %v2, %x2) : (!sums, !sums, !sums) -> !sums
    %I3 = tile.view %crd[%line, %w3, _] : memref<?x$WINDOWSx$KEPTx$I> to !tile.view<$KEPTx$I>
    %at3 = tile.load %I3[%c0] : !tile.view<$KEPTx$I> -> tensor<$KEPTx$I>
    %places3 = arith.extui %at3 : tensor<$KEPTx$I> to !places
    %T3 = tile.view %b[%w3, _] : memref<$WINDOWSx$WINDOWx$A> to !tile.view<$WINDOWx$A>
    %t3 = tile.load %T3[%c0] : !tile.view<$WINDOWx$A> -> tensor<$WINDOWx$A>
    %x3 = tile.gather %t3[%places3] axis 0 bounds(clamp) : tensor<$WINDOWx$A>[!places] -> !sums
    %V3 = tile.view %val[%line, %w3, _, %c0] : memref<?x$WINDOWSx$KEPTx1x$A> to !tile.view<$KEPTx$A>
    %v3 = tile.load %V3[%c0] : !tile.view<$KEPTx$A> -> !sums
    %new3 = tile.call @step(%a3, %v3, %x3) : (!sums, !sums, !sums) -> !sums
    scf.yield %new0, %new1, %new2, %new3 : !sums, !sums, !sums, !sums
  }
  %s0 = $ADD %sums#0, %sums#1 : !sums
  %s1 = $ADD %sums#2, %sums#3 : !sums
  %s2 = $ADD %s0, %s1 : !sums
  %sum = scf.for %w0 = %whole to %windows step %c1 iter_args(%a0 = %s2) -> (!sums) {
    %I0 = tile.view %crd[%line, %w0, _] : memref<?x$WINDOWSx$KEPTx$I> to !tile.view<$KEPTx$I>
    %at0 = tile.load %I0[%c0] : !tile.view<$KEPTx$I> -> tensor<$KEPTx$I>
    %places0 = arith.extui %at0 : tensor<$KEPTx$I> to !places
    %T0 = tile.view %b[%w0, _] : memref<$WINDOWSx$WINDOWx$A> to !tile.view<$WINDOWx$A>
    %t0 = tile.load %T0[%c0] : !tile.view<$WINDOWx$A> -> tensor<$WINDOWx$A>
    %x0 = tile.gather %t0[%places0] axis 0 bounds(clamp) : tensor<$WINDOWx$A>[!places] -> !sums
    %V0 = tile.view %val[%line, %w0, _, %c0] : memref<?x$WINDOWSx$KEPTx1x$A> to !tile.view<$KEPTx$A>
    %v0 = tile.load %V0[%c0] : !tile.view<$KEPTx$A> -> !sums
    %new0 = tile.call @step(%a0, %v0, %x0) : (!sums, !sums, !sums) -> !sums
    scf.yield %new0 : !sums
  }
  %C = tile.view %c[_, %c0] : memref<?x1x$A> to !tile.view<1x$A>
  %init = tile.load %C[%line] {tile.initial} : !tile.view<1x$A> -> tensor<1x$A>
  %all = tile.reduce {$ADD} %sum axes [0] : !sums -> $A
  %some = tile.broadcast %all axes [] : $A -> tensor<1x$A>
  %result = $ADD %init, %some : tensor<1x$A>
  tile.store %result, %C[%line] {tile.final} : tensor<1x$A>, !tile.view<1x$A>
  tile.return
}
