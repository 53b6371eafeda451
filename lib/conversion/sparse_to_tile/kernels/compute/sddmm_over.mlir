// One entry of a pattern over a semiring without a zero: the first product, then the others.
//   type $E = f32, $A = f32
//   op $WIDEN = arith.bitcast, $MULTIPLY = arith.mulf, $ADD = arith.addf
tile.kernel @kernel(%row: memref<?xi64>, %column: memref<?xi64>, %a: memref<?x?x$E>, %b: memref<?x?x$E>, %out: memref<?x$A>) {
  %e = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i64
  %empty = arith.constant 0x0 : $A
  %r = memref.load %row[%e] : memref<?xi64>
  %c = memref.load %column[%e] : memref<?xi64>
  %depth = memref.dim %a, %c1 : memref<?x?x$E>
  %stored = arith.cmpi sge, %r, %none : i64
  %some = arith.cmpi sgt, %depth, %c0 : index
  %computes = arith.andi %stored, %some : i1
  %value = scf.if %computes -> ($A) {
    %i = arith.index_cast %r : i64 to index
    %j = arith.index_cast %c : i64 to index
    %total = scf.for %k = %c0 to %depth step %c1 iter_args(%acc = %empty) -> ($A) {
      %x = memref.load %a[%i, %k] : memref<?x?x$E>
      %y = memref.load %b[%j, %k] : memref<?x?x$E>
      %lhs = $WIDEN %x : $E to $A
      %rhs = $WIDEN %y : $E to $A
      %term = $MULTIPLY %lhs, %rhs : $A
      %sum = $ADD %acc, %term : $A
      %first = arith.cmpi eq, %k, %c0 : index
      %new = arith.select %first, %term, %sum : $A
      scf.yield %new : $A
    }
    scf.yield %total : $A
  } else {
    scf.yield %empty : $A
  }
  memref.store %value, %out[%e] {tile.final} : memref<?x$A>
  tile.return
}
