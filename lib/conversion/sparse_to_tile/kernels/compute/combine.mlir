// The entries of a line where either of two matrices stores one, or both do; those that both have combined.
//   type $E = f32
//   op $GOES = arith.ori, $COMBINE = arith.addf
//   integer $UNION = 1
tile.kernel @kernel(%apos: memref<?xi64>, %acrd: memref<?xi64>, %aval: memref<?x$E>, %bpos: memref<?xi64>, %bcrd: memref<?xi64>, %bval: memref<?x$E>, %pos: memref<?xi64>, %crd: memref<?xi64>, %val: memref<?x$E>) {
  %row = tile.program_id 0
  %c1 = arith.constant 1 : index
  %next = arith.addi %row, %c1 : index
  %a0 = memref.load %apos[%row] : memref<?xi64>
  %a1 = memref.load %apos[%next] : memref<?xi64>
  %b0 = memref.load %bpos[%row] : memref<?xi64>
  %b1 = memref.load %bpos[%next] : memref<?xi64>
  %o0 = memref.load %pos[%row] : memref<?xi64>
  %abegin = arith.index_cast %a0 : i64 to index
  %aend = arith.index_cast %a1 : i64 to index
  %bbegin = arith.index_cast %b0 : i64 to index
  %bend = arith.index_cast %b1 : i64 to index
  %begin = arith.index_cast %o0 : i64 to index
  %last = arith.constant 9223372036854775807 : i64
  %keepsAll = arith.constant $UNION : i1
  %empty = arith.constant 0x0 : $E
  %pa, %pb, %at = scf.while (%p = %abegin, %q = %bbegin, %o = %begin) : (index, index, index) -> (index, index, index) {
    %more = arith.cmpi slt, %p, %aend : index
    %others = arith.cmpi slt, %q, %bend : index
    %goes = $GOES %more, %others : i1
    scf.condition(%goes) %p, %q, %o : index, index, index
  } do {
  ^bb0(%p: index, %q: index, %o: index):
    %inA = arith.cmpi slt, %p, %aend : index
    %inB = arith.cmpi slt, %q, %bend : index
    %k, %x = scf.if %inA -> (i64, $E) {
      %crdA = memref.load %acrd[%p] : memref<?xi64>
      %valA = memref.load %aval[%p] : memref<?x$E>
      scf.yield %crdA, %valA : i64, $E
    } else {
      scf.yield %last, %empty : i64, $E
    }
    %l, %y = scf.if %inB -> (i64, $E) {
      %crdB = memref.load %bcrd[%q] : memref<?xi64>
      %valB = memref.load %bval[%q] : memref<?x$E>
      scf.yield %crdB, %valB : i64, $E
    } else {
      scf.yield %last, %empty : i64, $E
    }
    %before = arith.cmpi sle, %k, %l : i64
    %after = arith.cmpi sge, %k, %l : i64
    %meets = arith.andi %before, %after : i1
    %keeps = arith.ori %meets, %keepsAll : i1
    %both = $COMBINE %x, %y : $E
    %one = arith.select %before, %x, %y : $E
    %value = arith.select %meets, %both, %one : $E
    %place = arith.minsi %k, %l : i64
    scf.if %keeps {
      memref.store %place, %crd[%o] : memref<?xi64>
      memref.store %value, %val[%o] : memref<?x$E>
    }
    %on = arith.addi %o, %c1 : index
    %onext = arith.select %keeps, %on, %o : index
    %pn = arith.addi %p, %c1 : index
    %qn = arith.addi %q, %c1 : index
    %pnext = arith.select %before, %pn, %p : index
    %qnext = arith.select %after, %qn, %q : index
    scf.yield %pnext, %qnext, %onext : index, index, index
  }
  tile.return
}
