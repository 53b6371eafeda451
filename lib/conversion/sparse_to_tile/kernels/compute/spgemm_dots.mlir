// A share of a pattern's lines per program: line i of a is spread over zeros that are the program's own; then each entry
// of the pattern's line is the sum of line j of b times what stands there. Four sums wait for no other, nothing is written
// between, and no branch depends on what b holds. What the line lacks is multiplied as zero: b is to be finite. An entry is
// skipped if another launch sums it up the other way around.
//   type $A = f32, $P = i32, $I = i32, $AP = i32, $AI = i32, $E = f32, $BP = i32, $BI = i32, $N = i32
//   op $WIDEN = arith.bitcast, $ADD = arith.addf
tile.func private @takes(index, index) -> i1
tile.func private @step($A, $A, $A) -> $A
tile.func private @place(memref<?x$N>, index) -> index
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %num: memref<?x$N>, %apos: memref<?x$AP>, %acrd: memref<?x$AI>, %aval: memref<?x$E>, %bpos: memref<?x$BP>, %bcrd: memref<?x$BI>, %bval: memref<?x$E>, %line: memref<?x?x$A>, %out: memref<?x$A>) {
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
    %spread = arith.subi %aend, %abegin : index
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
      %takes = tile.call @takes(%spread, %count) : (index, index) -> i1
      scf.if %takes {
        %hasSome = arith.cmpi sgt, %count, %c0 : index
        %total = scf.if %hasSome -> ($A) {
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
            %s0s = tile.call @step(%a0s, %x0s, %y0s) : ($A, $A, $A) -> $A
            %j1s = memref.load %bcrd[%q1] : memref<?x$BI>
            %k1s = arith.index_cast %j1s : $BI to index
            %x1s = memref.load %line[%part, %k1s] : memref<?x?x$A>
            %v1s = memref.load %bval[%q1] : memref<?x$E>
            %y1s = $WIDEN %v1s : $E to $A
            %s1s = tile.call @step(%a1s, %x1s, %y1s) : ($A, $A, $A) -> $A
            %j2s = memref.load %bcrd[%q2] : memref<?x$BI>
            %k2s = arith.index_cast %j2s : $BI to index
            %x2s = memref.load %line[%part, %k2s] : memref<?x?x$A>
            %v2s = memref.load %bval[%q2] : memref<?x$E>
            %y2s = $WIDEN %v2s : $E to $A
            %s2s = tile.call @step(%a2s, %x2s, %y2s) : ($A, $A, $A) -> $A
            %j3s = memref.load %bcrd[%q3] : memref<?x$BI>
            %k3s = arith.index_cast %j3s : $BI to index
            %x3s = memref.load %line[%part, %k3s] : memref<?x?x$A>
            %v3s = memref.load %bval[%q3] : memref<?x$E>
            %y3s = $WIDEN %v3s : $E to $A
            %s3s = tile.call @step(%a3s, %x3s, %y3s) : ($A, $A, $A) -> $A
            scf.yield %s0s, %s1s, %s2s, %s3s : $A, $A, $A, $A
          }
          %q0t = arith.addi %rest, %c0 : index
          %is0 = arith.cmpi slt, %q0t, %bend : index
          %q0r = arith.select %is0, %q0t, %bbegin : index
          %j0r = memref.load %bcrd[%q0r] : memref<?x$BI>
          %k0r = arith.index_cast %j0r : $BI to index
          %x0r = memref.load %line[%part, %k0r] : memref<?x?x$A>
          %v0r = memref.load %bval[%q0r] : memref<?x$E>
          %y0r = $WIDEN %v0r : $E to $A
          %t0r = arith.select %is0, %x0r, %zero : $A
          %s0r = tile.call @step(%some#0, %t0r, %y0r) : ($A, $A, $A) -> $A
          %q1t = arith.addi %rest, %c1 : index
          %is1 = arith.cmpi slt, %q1t, %bend : index
          %q1r = arith.select %is1, %q1t, %bbegin : index
          %j1r = memref.load %bcrd[%q1r] : memref<?x$BI>
          %k1r = arith.index_cast %j1r : $BI to index
          %x1r = memref.load %line[%part, %k1r] : memref<?x?x$A>
          %v1r = memref.load %bval[%q1r] : memref<?x$E>
          %y1r = $WIDEN %v1r : $E to $A
          %t1r = arith.select %is1, %x1r, %zero : $A
          %s1r = tile.call @step(%some#1, %t1r, %y1r) : ($A, $A, $A) -> $A
          %q2t = arith.addi %rest, %c2 : index
          %is2 = arith.cmpi slt, %q2t, %bend : index
          %q2r = arith.select %is2, %q2t, %bbegin : index
          %j2r = memref.load %bcrd[%q2r] : memref<?x$BI>
          %k2r = arith.index_cast %j2r : $BI to index
          %x2r = memref.load %line[%part, %k2r] : memref<?x?x$A>
          %v2r = memref.load %bval[%q2r] : memref<?x$E>
          %y2r = $WIDEN %v2r : $E to $A
          %t2r = arith.select %is2, %x2r, %zero : $A
          %s2r = tile.call @step(%some#2, %t2r, %y2r) : ($A, $A, $A) -> $A
          %q3t = arith.addi %rest, %c3 : index
          %is3 = arith.cmpi slt, %q3t, %bend : index
          %q3r = arith.select %is3, %q3t, %bbegin : index
          %j3r = memref.load %bcrd[%q3r] : memref<?x$BI>
          %k3r = arith.index_cast %j3r : $BI to index
          %x3r = memref.load %line[%part, %k3r] : memref<?x?x$A>
          %v3r = memref.load %bval[%q3r] : memref<?x$E>
          %y3r = $WIDEN %v3r : $E to $A
          %t3r = arith.select %is3, %x3r, %zero : $A
          %s3r = tile.call @step(%some#3, %t3r, %y3r) : ($A, $A, $A) -> $A
          %left = $ADD %s0r, %s1r : $A
          %right = $ADD %s2r, %s3r : $A
          %both = $ADD %left, %right : $A
          scf.yield %both : $A
        } else {
          scf.yield %zero : $A
        }
        %at = tile.call @place(%num, %e) : (memref<?x$N>, index) -> index
        memref.store %total, %out[%at] : memref<?x$A>
      }
    }
    scf.for %p = %abegin to %aend step %c1 {
      %ka = memref.load %acrd[%p] : memref<?x$AI>
      %k = arith.index_cast %ka : $AI to index
      memref.store %zero, %line[%part, %k] : memref<?x?x$A>
    }
  }
  tile.return
}
