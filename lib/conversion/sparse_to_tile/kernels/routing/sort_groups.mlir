// Where the numbers of all groups stand, in ascending order, by one program: a counting sort. Behind the last group
// places are -1. For so many groups that a program each would look at the numbers too often.
//   type $N = i64, $P = i32, $I = i32
tile.func private @check(i1)
tile.kernel @kernel(%numbers: memref<?x$N>, %pos: memref<?x$P>, %crd: memref<?x$I>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : $P
  %one = arith.constant 1 : $P
  %none = arith.constant -1 : $I
  %count = memref.dim %numbers, %c0 : memref<?x$N>
  %ends = memref.dim %pos, %c0 : memref<?x$P>
  %groups = arith.subi %ends, %c1 : index
  scf.for %g = %c0 to %ends step %c1 {
    memref.store %zero, %pos[%g] : memref<?x$P>
  }
  scf.for %i = %c0 to %count step %c1 {
    memref.store %none, %crd[%i] : memref<?x$I>
    %n = memref.load %numbers[%i] : memref<?x$N>
    %number = arith.index_cast %n : $N to index
    %isGroup = arith.cmpi ult, %number, %groups : index
    tile.call @check(%isGroup) : (i1) -> ()
    scf.if %isGroup {
      %old = memref.load %pos[%number] : memref<?x$P>
      %new = arith.addi %old, %one : $P
      memref.store %new, %pos[%number] : memref<?x$P>
    }
  }
  %all = scf.for %g = %c0 to %ends step %c1 iter_args(%sum = %zero) -> ($P) {
    %here = memref.load %pos[%g] : memref<?x$P>
    memref.store %sum, %pos[%g] : memref<?x$P>
    %new = arith.addi %sum, %here : $P
    scf.yield %new : $P
  }
  scf.for %i = %c0 to %count step %c1 {
    %n = memref.load %numbers[%i] : memref<?x$N>
    %number = arith.index_cast %n : $N to index
    %isGroup = arith.cmpi ult, %number, %groups : index
    scf.if %isGroup {
      %p = memref.load %pos[%number] : memref<?x$P>
      %at = arith.index_cast %p : $P to index
      %place = arith.index_cast %i : index to $I
      memref.store %place, %crd[%at] : memref<?x$I>
      %next = arith.addi %p, %one : $P
      memref.store %next, %pos[%number] : memref<?x$P>
    }
  }
  scf.for %i = %c1 to %ends step %c1 {
    %g = arith.subi %ends, %i : index
    %before = arith.subi %g, %c1 : index
    %p = memref.load %pos[%before] : memref<?x$P>
    memref.store %p, %pos[%g] : memref<?x$P>
  }
  memref.store %zero, %pos[%c0] : memref<?x$P>
  tile.return
}
