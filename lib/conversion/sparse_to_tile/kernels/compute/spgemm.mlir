// One entry of a pattern: a row of a and a column of b, walked side by side; zero where they share no place.
//   type $A = f32, $AP = i32, $AI = i32, $E = f32, $BP = i32, $BI = i32
//   op $WIDEN = arith.bitcast, $MULTIPLY = arith.mulf, $ADD = arith.addf
tile.func private @finish($A, i64) -> $A
tile.kernel @kernel(%row: memref<?xi64>, %column: memref<?xi64>, %apos: memref<?x$AP>, %acrd: memref<?x$AI>, %aval: memref<?x$E>, %bpos: memref<?x$BP>, %bcrd: memref<?x$BI>, %bval: memref<?x$E>, %out: memref<?x$A>) {
  %e = tile.program_id 0
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i64
  %empty = arith.constant 0x0 : $A
  %r = memref.load %row[%e] : memref<?xi64>
  %c = memref.load %column[%e] : memref<?xi64>
  %stored = arith.cmpi sge, %r, %none : i64
  %value = scf.if %stored -> ($A) {
    %i = arith.index_cast %r : i64 to index
    %j = arith.index_cast %c : i64 to index
    %in = arith.addi %i, %c1 : index
    %jn = arith.addi %j, %c1 : index
    %a0 = memref.load %apos[%i] : memref<?x$AP>
    %a1 = memref.load %apos[%in] : memref<?x$AP>
    %b0 = memref.load %bpos[%j] : memref<?x$BP>
    %b1 = memref.load %bpos[%jn] : memref<?x$BP>
    %abegin = arith.index_cast %a0 : $AP to index
    %aend = arith.index_cast %a1 : $AP to index
    %bbegin = arith.index_cast %b0 : $BP to index
    %bend = arith.index_cast %b1 : $BP to index
    %pa, %pb, %total, %terms = scf.while (%p = %abegin, %q = %bbegin, %acc = %empty, %count = %none) : (index, index, $A, i64) -> (index, index, $A, i64) {
      %more = arith.cmpi slt, %p, %aend : index
      %others = arith.cmpi slt, %q, %bend : index
      %goes = arith.andi %more, %others : i1
      scf.condition(%goes) %p, %q, %acc, %count : index, index, $A, i64
    } do {
    ^bb0(%p: index, %q: index, %acc: $A, %count: i64):
      %one = arith.constant 1 : i64
      %no = arith.constant 0 : i64
      %ka = memref.load %acrd[%p] : memref<?x$AI>
      %kb = memref.load %bcrd[%q] : memref<?x$BI>
      %k = arith.index_cast %ka : $AI to index
      %l = arith.index_cast %kb : $BI to index
      %x = memref.load %aval[%p] : memref<?x$E>
      %y = memref.load %bval[%q] : memref<?x$E>
      %lhs = $WIDEN %x : $E to $A
      %rhs = $WIDEN %y : $E to $A
      %term = $MULTIPLY %lhs, %rhs : $A
      %sum = $ADD %acc, %term : $A
      %first = arith.cmpi eq, %count, %no : i64
      %with = arith.select %first, %term, %sum : $A
      %meets = arith.cmpi eq, %k, %l : index
      %new = arith.select %meets, %with, %acc : $A
      %more = arith.addi %count, %one : i64
      %counted = arith.select %meets, %more, %count : i64
      %before = arith.cmpi sle, %k, %l : index
      %after = arith.cmpi sge, %k, %l : index
      %pn = arith.addi %p, %c1 : index
      %qn = arith.addi %q, %c1 : index
      %pnext = arith.select %before, %pn, %p : index
      %qnext = arith.select %after, %qn, %q : index
      scf.yield %pnext, %qnext, %new, %counted : index, index, $A, i64
    }
    %some = arith.cmpi sgt, %terms, %none : i64
    %done = scf.if %some -> ($A) {
      %result = tile.call @finish(%total, %terms) : ($A, i64) -> $A
      scf.yield %result : $A
    } else {
      scf.yield %empty : $A
    }
    scf.yield %done : $A
  } else {
    scf.yield %empty : $A
  }
  memref.store %value, %out[%e] {tile.final} : memref<?x$A>
  tile.return
}
