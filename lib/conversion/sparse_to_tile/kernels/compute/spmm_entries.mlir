// $ITEMS steps of the merge of rows' ends with entries per program, $COLUMNS columns of the result at a time: whatever
// rows are like, programs do alike (Merrill and Garland, "Merge-Based Parallel Sparse Matrix-Vector Multiplication", SC
// 2016). Who reaches the end of a row writes it; what a program has of a row that it does not end goes to %carry, its row
// to %open (-1: nothing).
//   type $MATRIX = memref<?x?xf32>, $E = f32, $A = f32, $P = i32, $I = i32
//   op $WIDEN = arith.bitcast
//   integer $COLUMNS = 32, $ITEMS = 4096
!row = tensor<$COLUMNSx$A>
tile.func private @row($MATRIX, index, index) -> tensor<$COLUMNSx$E>
tile.func private @step(!row, !row, !row) -> !row
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %val: memref<?x$E>, %b: $MATRIX, %c: memref<?x?x$A>, %carry: memref<?x?x$A>, %open: memref<?xi64>) {
  %part = tile.program_id 0
  %col = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %items = arith.constant $ITEMS : index
  %rows = memref.dim %c, %c0 : memref<?x?x$A>
  %last = memref.load %pos[%rows] : memref<?x$P>
  %entries = arith.index_cast %last : $P to index
  %steps = arith.addi %rows, %entries : index
  %first = arith.muli %part, %items : index
  %from = arith.minsi %first, %steps : index
  %after = arith.addi %from, %items : index
  %to = arith.minsi %after, %steps : index
  %length = arith.subi %to, %from : index
  // How many rows have ended after that many steps: at the first, at the last.
  %ended:2 = scf.for %side = %c0 to %c2 step %c1 iter_args(%unused = %c0, %before = %c0) -> (index, index) {
    %offset = arith.muli %side, %length : index
    %step = arith.addi %from, %offset : index
    %least = arith.subi %step, %entries : index
    %low = arith.maxsi %least, %c0 : index
    %high = arith.minsi %step, %rows : index
    %found:2 = scf.while (%l = %low, %h = %high) : (index, index) -> (index, index) {
      %more = arith.cmpi slt, %l, %h : index
      scf.condition(%more) %l, %h : index, index
    } do {
    ^bb0(%l: index, %h: index):
      %both = arith.addi %l, %h : index
      %middle = arith.divui %both, %c2 : index
      %next = arith.addi %middle, %c1 : index
      %p = memref.load %pos[%next] : memref<?x$P>
      %ends = arith.index_cast %p : $P to index
      %taken = arith.subi %step, %next : index
      %hasEnded = arith.cmpi sle, %ends, %taken : index
      %newLow = arith.select %hasEnded, %next, %l : index
      %newHigh = arith.select %hasEnded, %h, %middle : index
      scf.yield %newLow, %newHigh : index, index
    }
    scf.yield %before, %found#0 : index, index
  }
  %firstEntry = arith.subi %from, %ended#0 : index
  %lastEntry = arith.subi %to, %ended#1 : index
  scf.for %row = %ended#0 to %ended#1 step %c1 {
    %next = arith.addi %row, %c1 : index
    %p0 = memref.load %pos[%row] : memref<?x$P>
    %p1 = memref.load %pos[%next] : memref<?x$P>
    %begins = arith.index_cast %p0 : $P to index
    %end = arith.index_cast %p1 : $P to index
    %begin = arith.maxsi %begins, %firstEntry : index
    %C = tile.view %c[%row, _] : memref<?x?x$A> to !tile.view<$COLUMNSx$A>
    %init = tile.load %C[%col] : !tile.view<$COLUMNSx$A> -> !row
    %sum = scf.for %e = %begin to %end step %c1 iter_args(%acc = %init) -> (!row) {
      %at = memref.load %crd[%e] : memref<?x$I>
      %k = arith.index_cast %at : $I to index
      %v = memref.load %val[%e] : memref<?x$E>
      %y = tile.call @row(%b, %k, %col) : ($MATRIX, index, index) -> tensor<$COLUMNSx$E>
      %wide = $WIDEN %v : $E to $A
      %lhs = tile.broadcast %wide axes [] : $A -> !row
      %rhs = $WIDEN %y : tensor<$COLUMNSx$E> to !row
      %new = tile.call @step(%acc, %lhs, %rhs) : (!row, !row, !row) -> !row
      scf.yield %new : !row
    }
    tile.store %sum, %C[%col] : !row, !tile.view<$COLUMNSx$A>
  }
  %p2 = memref.load %pos[%ended#1] : memref<?x$P>
  %opens = arith.index_cast %p2 : $P to index
  %start = arith.maxsi %opens, %firstEntry : index
  %isOpen = arith.cmpi slt, %start, %lastEntry : index
  %isFirst = arith.cmpi eq, %col, %c0 : index
  scf.if %isFirst {
    %none = arith.constant -1 : i64
    %number = arith.index_cast %ended#1 : index to i64
    %which = arith.select %isOpen, %number, %none : i64
    memref.store %which, %open[%part] : memref<?xi64>
  }
  scf.if %isOpen {
    %zeros = arith.constant dense<0x0> : !row
    %sum = scf.for %e = %start to %lastEntry step %c1 iter_args(%acc = %zeros) -> (!row) {
      %at = memref.load %crd[%e] : memref<?x$I>
      %k = arith.index_cast %at : $I to index
      %v = memref.load %val[%e] : memref<?x$E>
      %y = tile.call @row(%b, %k, %col) : ($MATRIX, index, index) -> tensor<$COLUMNSx$E>
      %wide = $WIDEN %v : $E to $A
      %lhs = tile.broadcast %wide axes [] : $A -> !row
      %rhs = $WIDEN %y : tensor<$COLUMNSx$E> to !row
      %new = tile.call @step(%acc, %lhs, %rhs) : (!row, !row, !row) -> !row
      scf.yield %new : !row
    }
    %S = tile.view %carry[%part, _] : memref<?x?x$A> to !tile.view<$COLUMNSx$A>
    tile.store %sum, %S[%col] : !row, !tile.view<$COLUMNSx$A>
  }
  tile.return
}
