// Softmax of the entries of a line that stand anywhere: %num lists their places, line by line.
//   type $E = f32, $A = f32, $P = i32, $N = i64
//   op $WIDEN = arith.bitcast, $NARROW = arith.bitcast
//   attribute $LEAST = 0xFF800000 : f32
tile.kernel @kernel(%pos: memref<?x$P>, %num: memref<?x$N>, %val: memref<?x$E>, %out: memref<?x$E>) {
  %row = tile.program_id 0
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : $A
  %zero = arith.constant 0.0 : $A
  %least = arith.constant $LEAST
  %next = arith.addi %row, %c1 : index
  %p0 = memref.load %pos[%row] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %maximum = scf.for %e = %begin to %end step %c1 iter_args(%acc = %least) -> ($A) {
    %n = memref.load %num[%e] : memref<?x$N>
    %at = arith.index_cast %n : $N to index
    %x = memref.load %val[%at] : memref<?x$E>
    %w = $WIDEN %x : $E to $A
    %new = arith.maximumf %acc, %w : $A
    scf.yield %new : $A
  }
  %sum = scf.for %e = %begin to %end step %c1 iter_args(%acc = %zero) -> ($A) {
    %n = memref.load %num[%e] : memref<?x$N>
    %at = arith.index_cast %n : $N to index
    %x = memref.load %val[%at] : memref<?x$E>
    %w = $WIDEN %x : $E to $A
    %d = arith.subf %w, %maximum : $A
    %y = math.exp %d fastmath<afn> : $A
    %new = arith.addf %acc, %y : $A
    scf.yield %new : $A
  }
  %part = arith.divf %one, %sum : $A
  scf.for %e = %begin to %end step %c1 {
    %n = memref.load %num[%e] : memref<?x$N>
    %at = arith.index_cast %n : $N to index
    %x = memref.load %val[%at] : memref<?x$E>
    %w = $WIDEN %x : $E to $A
    %d = arith.subf %w, %maximum : $A
    %y = math.exp %d fastmath<afn> : $A
    %q = arith.mulf %y, %part : $A
    %r = $NARROW %q : $A to $E
    memref.store %r, %out[%at] : memref<?x$E>
  }
  tile.return
}
