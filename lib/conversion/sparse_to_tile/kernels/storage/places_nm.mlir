// Line and place along the windows of each element of a window; -1 beyond the matrix.
//   type $I = i8
//   integer $UNITS = 4, $ROWS = 32, $WINDOW = 32, $TOGETHER = 1, $KEPT = 4
tile.kernel @kernel(%crd: memref<?x?x$UNITSx$I>, %numLines: index, %numAlong: index, %line: memref<?xi64>, %along: memref<?xi64>) {
  %group = tile.program_id 0
  %w = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lines = arith.constant $ROWS : index
  %m = arith.constant $WINDOW : index
  %together = arith.constant $TOGETHER : index
  %units = arith.constant $UNITS : index
  %keptAll = arith.constant $KEPT : index
  %minus = arith.constant -1 : i64
  %windows = memref.dim %crd, %c1 : memref<?x?x$UNITSx$I>
  %firstLine = arith.muli %group, %lines : index
  %base = arith.muli %w, %m : index
  %groupWindows = arith.muli %group, %windows : index
  %window = arith.addi %groupWindows, %w : index
  %before = arith.muli %window, %keptAll : index
  scf.for %u = %c0 to %units step %c1 {
    %at = memref.load %crd[%group, %w, %u] : memref<?x?x$UNITSx$I>
    %place = arith.index_castui %at : $I to index
    %offset = arith.muli %place, %together : index
    %k0 = arith.addi %base, %offset : index
    %kept = arith.muli %u, %together : index
    scf.for %i = %c0 to %together step %c1 {
      %k = arith.addi %k0, %i : index
      %n = arith.addi %kept, %i : index
      %number = arith.addi %before, %n : index
      %first = arith.muli %number, %lines : index
      scf.for %l = %c0 to %lines step %c1 {
        %r = arith.addi %firstLine, %l : index
        %inLines = arith.cmpi slt, %r, %numLines : index
        %inAlong = arith.cmpi slt, %k, %numAlong : index
        %inside = arith.andi %inLines, %inAlong : i1
        %rw = arith.index_cast %r : index to i64
        %kw = arith.index_cast %k : index to i64
        %rs = arith.select %inside, %rw, %minus : i64
        %ks = arith.select %inside, %kw, %minus : i64
        %slot = arith.addi %first, %l : index
        memref.store %rs, %line[%slot] : memref<?xi64>
        memref.store %ks, %along[%slot] : memref<?xi64>
      }
    }
  }
  tile.return
}
