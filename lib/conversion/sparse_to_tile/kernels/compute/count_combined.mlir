// How many entries a line has where either of two matrices stores one, or both do.
//   integer $UNION = 1
tile.kernel @kernel(%apos: memref<?xi64>, %acrd: memref<?xi64>, %bpos: memref<?xi64>, %bcrd: memref<?xi64>, %count: memref<?xi64>) {
  %row = tile.program_id 0
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %next = arith.addi %row, %c1 : index
  %a0 = memref.load %apos[%row] : memref<?xi64>
  %a1 = memref.load %apos[%next] : memref<?xi64>
  %b0 = memref.load %bpos[%row] : memref<?xi64>
  %b1 = memref.load %bpos[%next] : memref<?xi64>
  %abegin = arith.index_cast %a0 : i64 to index
  %aend = arith.index_cast %a1 : i64 to index
  %bbegin = arith.index_cast %b0 : i64 to index
  %bend = arith.index_cast %b1 : i64 to index
  %pa, %pb, %shared = scf.while (%p = %abegin, %q = %bbegin, %sum = %zero) : (index, index, i64) -> (index, index, i64) {
    %more = arith.cmpi slt, %p, %aend : index
    %others = arith.cmpi slt, %q, %bend : index
    %goes = arith.andi %more, %others : i1
    scf.condition(%goes) %p, %q, %sum : index, index, i64
  } do {
  ^bb0(%p: index, %q: index, %sum: i64):
    %one = arith.constant 1 : i64
    %k = memref.load %acrd[%p] : memref<?xi64>
    %l = memref.load %bcrd[%q] : memref<?xi64>
    %meets = arith.cmpi eq, %k, %l : i64
    %plus = arith.addi %sum, %one : i64
    %new = arith.select %meets, %plus, %sum : i64
    %before = arith.cmpi sle, %k, %l : i64
    %after = arith.cmpi sge, %k, %l : i64
    %pn = arith.addi %p, %c1 : index
    %qn = arith.addi %q, %c1 : index
    %pnext = arith.select %before, %pn, %p : index
    %qnext = arith.select %after, %qn, %q : index
    scf.yield %pnext, %qnext, %new : index, index, i64
  }
  %na = arith.subi %a1, %a0 : i64
  %nb = arith.subi %b1, %b0 : i64
  %both = arith.addi %na, %nb : i64
  %either = arith.subi %both, %shared : i64
  %isUnion = arith.constant $UNION : i1
  %counted = arith.select %isUnion, %either, %shared : i64
  memref.store %counted, %count[%row] : memref<?xi64>
  tile.return
}
