// A share of a pattern's rows per program: where row i of the pattern has its entries is marked, in a line of marks that
// is the program's own; then each entry of row i of a scales a row of b, whose marked columns are added up. Columns that
// are not marked are added up behind the line, in $ASIDE places by turns: no branch that the matrix would mislead, and no
// sum waits for another. After Gustavson ("Two fast algorithms for sparse matrices", 1978). A mark is the entry's number
// in its row, counted from 1.
//   type $A = f32, $P = i32, $I = i32, $AP = i32, $AI = i32, $E = f32, $BP = i32, $BI = i32
//   op $WIDEN = arith.bitcast, $MULTIPLY = arith.mulf, $ADD = arith.addf
//   integer $ASIDE = 16
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %apos: memref<?x$AP>, %acrd: memref<?x$AI>, %aval: memref<?x$E>, %bpos: memref<?x$BP>, %bcrd: memref<?x$BI>, %bval: memref<?x$E>, %marks: memref<?x?xi32>, %sums: memref<?x?x$A>, %out: memref<?x$A>) {
  %part = tile.program_id 0
  %parts = tile.num_programs 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %asides = arith.constant $ASIDE : index
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %zero = arith.constant 0x0 : $A
  %width = memref.dim %marks, %c1 : memref<?x?xi32>
  %ends = memref.dim %pos, %c0 : memref<?x$P>
  %rows = arith.subi %ends, %c1 : index
  %each = arith.ceildivui %rows, %parts : index
  %first = arith.muli %part, %each : index
  %after = arith.addi %first, %each : index
  %last = arith.minsi %after, %rows : index
  scf.for %i = %first to %last step %c1 {
    %in = arith.addi %i, %c1 : index
    %p0 = memref.load %pos[%i] : memref<?x$P>
    %p1 = memref.load %pos[%in] : memref<?x$P>
    %a0 = memref.load %apos[%i] : memref<?x$AP>
    %a1 = memref.load %apos[%in] : memref<?x$AP>
    %begin = arith.index_cast %p0 : $P to index
    %end = arith.index_cast %p1 : $P to index
    %abegin = arith.index_cast %a0 : $AP to index
    %aend = arith.index_cast %a1 : $AP to index
    scf.for %e = %begin to %end step %c1 {
      %c = memref.load %crd[%e] : memref<?x$I>
      %j = arith.index_cast %c : $I to index
      %nth = arith.subi %e, %begin : index
      %n = arith.index_cast %nth : index to i32
      %mark = arith.addi %n, %one : i32
      memref.store %mark, %marks[%part, %j] : memref<?x?xi32>
      memref.store %zero, %sums[%part, %nth] : memref<?x?x$A>
    }
    scf.for %p = %abegin to %aend step %c1 {
      %ka = memref.load %acrd[%p] : memref<?x$AI>
      %k = arith.index_cast %ka : $AI to index
      %kn = arith.addi %k, %c1 : index
      %x = memref.load %aval[%p] : memref<?x$E>
      %lhs = $WIDEN %x : $E to $A
      %b0 = memref.load %bpos[%k] : memref<?x$BP>
      %b1 = memref.load %bpos[%kn] : memref<?x$BP>
      %bbegin = arith.index_cast %b0 : $BP to index
      %bend = arith.index_cast %b1 : $BP to index
      scf.for %q = %bbegin to %bend step %c1 {
        %jb = memref.load %bcrd[%q] : memref<?x$BI>
        %j = arith.index_cast %jb : $BI to index
        %mark = memref.load %marks[%part, %j] : memref<?x?xi32>
        %isMarked = arith.cmpi ne, %mark, %none : i32
        %n = arith.subi %mark, %one : i32
        %nth = arith.index_cast %n : i32 to index
        %turn = arith.remui %q, %asides : index
        %aside = arith.addi %turn, %width : index
        %at = arith.select %isMarked, %nth, %aside : index
        %y = memref.load %bval[%q] : memref<?x$E>
        %rhs = $WIDEN %y : $E to $A
        %term = $MULTIPLY %lhs, %rhs : $A
        %sum = memref.load %sums[%part, %at] : memref<?x?x$A>
        %new = $ADD %sum, %term : $A
        memref.store %new, %sums[%part, %at] : memref<?x?x$A>
      }
    }
    scf.for %e = %begin to %end step %c1 {
      %c = memref.load %crd[%e] : memref<?x$I>
      %j = arith.index_cast %c : $I to index
      %nth = arith.subi %e, %begin : index
      %sum = memref.load %sums[%part, %nth] : memref<?x?x$A>
      memref.store %none, %marks[%part, %j] : memref<?x?xi32>
      memref.store %sum, %out[%e] {tile.final} : memref<?x$A>
    }
  }
  tile.return
}
