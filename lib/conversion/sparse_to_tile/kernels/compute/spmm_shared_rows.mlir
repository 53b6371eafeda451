// Lines of a group share the rows of b that they take: $DEPTH of these at a time are gathered for $ROWS lines and
// multiplied by the machine's instruction, which takes $HEIGHT: those beyond are zero. Positions beyond a group's
// entries, and rows beyond b, count nothing.
//   type $A = f32, $I = i32, $E = f16, $S = f32
//   op $BEGIN = arith.bitcast, $ADD = arith.addf, $END = arith.bitcast
//   integer $HEIGHT = 32, $COLUMNS = 32, $LINES = 64, $DEPTH = 16, $PARTS = 2, $ROWS = 32, $WINDOW = 32, $KEPT = 4, $TOGETHER = 1
!result = tensor<$HEIGHTx$COLUMNSx$A>
!results = !tile.view<$HEIGHTx$COLUMNSx$A>
!lines = tensor<$HEIGHTxindex>
tile.func private @read(!results, index, !lines, index) -> !result
tile.func private @write(!result, !results, index, !lines, index)
tile.kernel @kernel(%crd: memref<?x$I>, %val: memref<?x?x$LINESx$E>, %b: memref<?x?x$E>, %c: memref<?x?x$A>) {
  %row = tile.program_id 0
  %col = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %depth = arith.constant $DEPTH : index
  %parts = arith.constant $PARTS : index
  %rows = arith.constant $ROWS : index
  %height = arith.constant dense<$ROWS> : tensor<$HEIGHTxindex>
  %beyond = arith.constant dense<-1> : tensor<$HEIGHTxindex>
  %group = arith.divui %row, %parts : index
  %part = arith.remui %row, %parts : index
  %entries = memref.dim %val, %c1 : memref<?x?x$LINESx$E>
  %inner = memref.dim %b, %c0 : memref<?x?x$E>
  %steps = arith.ceildivui %entries, %depth : index
  %base = arith.muli %group, %entries : index
  %V = tile.view %val[%group, _, _] : memref<?x?x$LINESx$E> to !tile.view<$DEPTHx$HEIGHTx$E>
  %B = tile.view %b : memref<?x?x$E> to !tile.view<$DEPTHx$COLUMNSx$E>
  %C = tile.view %c : memref<?x?x$A> to !tile.view<$HEIGHTx$COLUMNSx$A>
  %none = arith.constant dense<-1> : tensor<$DEPTHxindex>
  %window = arith.constant dense<$WINDOW> : tensor<$DEPTHxindex>
  %kept = arith.constant dense<$KEPT> : tensor<$DEPTHxindex>
  %together = arith.constant dense<$TOGETHER> : tensor<$DEPTHxindex>
  %all = tile.broadcast %entries axes [] : index -> tensor<$DEPTHxindex>
  %inners = tile.broadcast %inner axes [] : index -> tensor<$DEPTHxindex>
  %bases = tile.broadcast %base axes [] : index -> tensor<$DEPTHxindex>
  %start = arith.constant dense<0x0> : tensor<$HEIGHTx$COLUMNSx$S>
  %sum = scf.for %s = %c0 to %steps step %c1 iter_args(%acc = %start) -> (tensor<$HEIGHTx$COLUMNSx$S>) {
    %from = arith.muli %s, %depth : index
    %p = tile.iota dim 0 from %from : tensor<$DEPTHxindex>
    %isEntry = arith.cmpi slt, %p, %all : tensor<$DEPTHxindex>
    %at = arith.addi %bases, %p : tensor<$DEPTHxindex>
    %unit = arith.divui %at, %together : tensor<$DEPTHxindex>
    %units = arith.select %isEntry, %unit, %none : tensor<$DEPTHxi1>, tensor<$DEPTHxindex>
    %place = tile.gather %crd[%units] bounds(drop) : memref<?x$I>[tensor<$DEPTHxindex>] -> tensor<$DEPTHx$I>
    %number = arith.index_castui %place : tensor<$DEPTHx$I> to tensor<$DEPTHxindex>
    %scaled = arith.muli %number, %together : tensor<$DEPTHxindex>
    %member = arith.remui %at, %together : tensor<$DEPTHxindex>
    %offset = arith.addi %scaled, %member : tensor<$DEPTHxindex>
    %w = arith.divui %p, %kept : tensor<$DEPTHxindex>
    %first = arith.muli %w, %window : tensor<$DEPTHxindex>
    %k = arith.addi %first, %offset : tensor<$DEPTHxindex>
    %isRow = arith.cmpi slt, %k, %inners : tensor<$DEPTHxindex>
    %counts = arith.andi %isEntry, %isRow : tensor<$DEPTHxi1>
    %taken = arith.select %counts, %k, %none : tensor<$DEPTHxi1>, tensor<$DEPTHxindex>
    %y = tile.gather %B[%taken, %col] bounds(drop) : !tile.view<$DEPTHx$COLUMNSx$E>[tensor<$DEPTHxindex>, index] -> tensor<$DEPTHx$COLUMNSx$E>
    %v = tile.load %V[%s, %part] : !tile.view<$DEPTHx$HEIGHTx$E> -> tensor<$DEPTHx$HEIGHTx$E>
    %x = tile.transpose %v [1, 0] : tensor<$DEPTHx$HEIGHTx$E> -> tensor<$HEIGHTx$DEPTHx$E>
    %new = tile.mma %x, %y, %acc : tensor<$HEIGHTx$DEPTHx$E>, tensor<$DEPTHx$COLUMNSx$E> -> tensor<$HEIGHTx$COLUMNSx$S>
    scf.yield %new : tensor<$HEIGHTx$COLUMNSx$S>
  }
  %corner = arith.muli %row, %rows : index
  %corners = tile.broadcast %corner axes [] : index -> tensor<$HEIGHTxindex>
  %i = tile.iota dim 0 : tensor<$HEIGHTxindex>
  %isLine = arith.cmpi slt, %i, %height : tensor<$HEIGHTxindex>
  %line = arith.addi %corners, %i : tensor<$HEIGHTxindex>
  %lines = arith.select %isLine, %line, %beyond : tensor<$HEIGHTxi1>, tensor<$HEIGHTxindex>
  %init = tile.call @read(%C, %row, %lines, %col) : (!results, index, !lines, index) -> !result
  %wide = $BEGIN %init : tensor<$HEIGHTx$COLUMNSx$A> to tensor<$HEIGHTx$COLUMNSx$S>
  %total = $ADD %sum, %wide : tensor<$HEIGHTx$COLUMNSx$S>
  %result = $END %total : tensor<$HEIGHTx$COLUMNSx$S> to tensor<$HEIGHTx$COLUMNSx$A>
  tile.call @write(%result, %C, %row, %lines, %col) : (!result, !results, index, !lines, index) -> ()
  tile.return
}
