// A share of a pattern's rows per program: row i of a is spread over a line of zeros that is the program's own; then each
// entry of the pattern is the sum of a column of b times what stands in the line. Four sums wait for no other, nothing is
// written between, and no branch depends on the entries. What the line lacks is multiplied as zero: b is to be finite.
//   type $A = f32, $P = i32, $I = i32, $AP = i32, $AI = i32, $E = f32, $BP = i32, $BI = i32
//   op $WIDEN = arith.bitcast, $MULTIPLY = arith.mulf, $ADD = arith.addf
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %apos: memref<?x$AP>, %acrd: memref<?x$AI>, %aval: memref<?x$E>, %bpos: memref<?x$BP>, %bcrd: memref<?x$BI>, %bval: memref<?x$E>, %line: memref<?x?x$A>, %out: memref<?x$A>) {
  %part = tile.program_id 0
  %parts = tile.num_programs 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0x0 : $A
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
    scf.for %p = %abegin to %aend step %c1 {
      %ka = memref.load %acrd[%p] : memref<?x$AI>
      %k = arith.index_cast %ka : $AI to index
      %x = memref.load %aval[%p] : memref<?x$E>
      %lhs = $WIDEN %x : $E to $A
      memref.store %lhs, %line[%part, %k] : memref<?x?x$A>
    }
    scf.for %e = %begin to %end step %c1 {
      %c = memref.load %crd[%e] : memref<?x$I>
      %j = arith.index_cast %c : $I to index
      %jn = arith.addi %j, %c1 : index
      %b0 = memref.load %bpos[%j] : memref<?x$BP>
      %b1 = memref.load %bpos[%jn] : memref<?x$BP>
      %bbegin = arith.index_cast %b0 : $BP to index
      %bend = arith.index_cast %b1 : $BP to index
      %count = arith.subi %bend, %bbegin : index
      %fours = arith.divui %count, %c4 : index
      %whole = arith.muli %fours, %c4 : index
      %rest = arith.addi %bbegin, %whole : index
      %some:4 = scf.for %q = %bbegin to %rest step %c4 iter_args(%a0s = %zero, %a1s = %zero, %a2s = %zero, %a3s = %zero) -> ($A, $A, $A, $A) {
        %q1 = arith.addi %q, %c1 : index
        %q2 = arith.addi %q, %c2 : index
        %q3 = arith.addi %q, %c3 : index
        %j0s = memref.load %bcrd[%q] : memref<?x$BI>
        %k0s = arith.index_cast %j0s : $BI to index
        %x0s = memref.load %line[%part, %k0s] : memref<?x?x$A>
        %v0s = memref.load %bval[%q] : memref<?x$E>
        %y0s = $WIDEN %v0s : $E to $A
        %t0s = $MULTIPLY %x0s, %y0s : $A
        %s0s = $ADD %a0s, %t0s : $A
        %j1s = memref.load %bcrd[%q1] : memref<?x$BI>
        %k1s = arith.index_cast %j1s : $BI to index
        %x1s = memref.load %line[%part, %k1s] : memref<?x?x$A>
        %v1s = memref.load %bval[%q1] : memref<?x$E>
        %y1s = $WIDEN %v1s : $E to $A
        %t1s = $MULTIPLY %x1s, %y1s : $A
        %s1s = $ADD %a1s, %t1s : $A
        %j2s = memref.load %bcrd[%q2] : memref<?x$BI>
        %k2s = arith.index_cast %j2s : $BI to index
        %x2s = memref.load %line[%part, %k2s] : memref<?x?x$A>
        %v2s = memref.load %bval[%q2] : memref<?x$E>
        %y2s = $WIDEN %v2s : $E to $A
        %t2s = $MULTIPLY %x2s, %y2s : $A
        %s2s = $ADD %a2s, %t2s : $A
        %j3s = memref.load %bcrd[%q3] : memref<?x$BI>
        %k3s = arith.index_cast %j3s : $BI to index
        %x3s = memref.load %line[%part, %k3s] : memref<?x?x$A>
        %v3s = memref.load %bval[%q3] : memref<?x$E>
        %y3s = $WIDEN %v3s : $E to $A
        %t3s = $MULTIPLY %x3s, %y3s : $A
        %s3s = $ADD %a3s, %t3s : $A
        scf.yield %s0s, %s1s, %s2s, %s3s : $A, $A, $A, $A
      }
      %left = $ADD %some#0, %some#1 : $A
      %right = $ADD %some#2, %some#3 : $A
      %both = $ADD %left, %right : $A
      %total = scf.for %q = %rest to %bend step %c1 iter_args(%ar = %both) -> ($A) {
        %jr = memref.load %bcrd[%q] : memref<?x$BI>
        %kr = arith.index_cast %jr : $BI to index
        %xr = memref.load %line[%part, %kr] : memref<?x?x$A>
        %vr = memref.load %bval[%q] : memref<?x$E>
        %yr = $WIDEN %vr : $E to $A
        %tr = $MULTIPLY %xr, %yr : $A
        %sr = $ADD %ar, %tr : $A
        scf.yield %sr : $A
      }
      memref.store %total, %out[%e] {tile.final} : memref<?x$A>
    }
    scf.for %p = %abegin to %aend step %c1 {
      %ka = memref.load %acrd[%p] : memref<?x$AI>
      %k = arith.index_cast %ka : $AI to index
      memref.store %zero, %line[%part, %k] : memref<?x?x$A>
    }
  }
  tile.return
}
