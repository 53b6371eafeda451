// Entries line by line become entries by where they are in their line; those at one place stay in order. One program
// counts and sums up, then each entry takes the next free place of its line. Meanwhile positions stand one line ahead.
//   type $P = i32, $I = i32, $E = f32, $V = f32
tile.func private @value(memref<?x$E>, index) -> $V
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %val: memref<?x$E>, %to: memref<?x$P>, %others: memref<?x$I>, %vals: memref<?x$V>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : $P
  %one = arith.constant 1 : $P
  %starts = memref.dim %pos, %c0 : memref<?x$P>
  %rows = arith.subi %starts, %c1 : index
  %ends = memref.dim %to, %c0 : memref<?x$P>
  %lines = arith.subi %ends, %c1 : index
  scf.for %i = %c0 to %ends step %c1 {
    memref.store %zero, %to[%i] : memref<?x$P>
  }
  %total = memref.load %pos[%rows] : memref<?x$P>
  %all = arith.index_cast %total : $P to index
  scf.for %e = %c0 to %all step %c1 {
    %c = memref.load %crd[%e] : memref<?x$I>
    %line = arith.index_cast %c : $I to index
    %old = memref.load %to[%line] : memref<?x$P>
    %new = arith.addi %old, %one : $P
    memref.store %new, %to[%line] : memref<?x$P>
  }
  %sums = scf.for %i = %c0 to %ends step %c1 iter_args(%sum = %zero) -> ($P) {
    %here = memref.load %to[%i] : memref<?x$P>
    memref.store %sum, %to[%i] : memref<?x$P>
    %new = arith.addi %sum, %here : $P
    scf.yield %new : $P
  }
  scf.for %row = %c0 to %rows step %c1 {
    %after = arith.addi %row, %c1 : index
    %p0 = memref.load %pos[%row] : memref<?x$P>
    %p1 = memref.load %pos[%after] : memref<?x$P>
    %begin = arith.index_cast %p0 : $P to index
    %end = arith.index_cast %p1 : $P to index
    %r = arith.index_cast %row : index to $I
    scf.for %e = %begin to %end step %c1 {
      %c = memref.load %crd[%e] : memref<?x$I>
      %line = arith.index_cast %c : $I to index
      %p = memref.load %to[%line] : memref<?x$P>
      %next = arith.addi %p, %one : $P
      memref.store %next, %to[%line] : memref<?x$P>
      %at = arith.index_cast %p : $P to index
      memref.store %r, %others[%at] : memref<?x$I>
      %v = tile.call @value(%val, %e) : (memref<?x$E>, index) -> $V
      memref.store %v, %vals[%at] : memref<?x$V>
    }
  }
  scf.for %i = %c0 to %lines step %c1 {
    %here = arith.subi %lines, %i : index
    %before = arith.subi %here, %c1 : index
    %p = memref.load %to[%before] : memref<?x$P>
    memref.store %p, %to[%here] : memref<?x$P>
  }
  memref.store %zero, %to[%c0] : memref<?x$P>
  tile.return
}
