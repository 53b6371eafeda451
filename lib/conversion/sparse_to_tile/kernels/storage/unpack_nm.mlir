// The kept elements of a group's windows into a matrix of zeros; those beyond it are left out.
//   type $E = f32, $I = i8
//   integer $UNITS = 4, $KEPT = 4, $ROWS = 32, $WINDOW = 32, $TOGETHER = 1, $ACROSS = 0, $ALONG = 1
tile.func private @put($E, memref<?x?x$E>, index, index)
tile.kernel @kernel(%crd: memref<?x?x$UNITSx$I>, %val: memref<?x?x$KEPTx$ROWSx$E>, %d: memref<?x?x$E>) {
  %group = tile.program_id 0
  %w = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lines = arith.constant $ROWS : index
  %m = arith.constant $WINDOW : index
  %together = arith.constant $TOGETHER : index
  %units = arith.constant $UNITS : index
  %across = arith.constant $ACROSS : index
  %along = arith.constant $ALONG : index
  %numLines = memref.dim %d, %across : memref<?x?x$E>
  %numAlong = memref.dim %d, %along : memref<?x?x$E>
  %firstLine = arith.muli %group, %lines : index
  %base = arith.muli %w, %m : index
  scf.for %u = %c0 to %units step %c1 {
    %at = memref.load %crd[%group, %w, %u] : memref<?x?x$UNITSx$I>
    %place = arith.index_castui %at : $I to index
    %offset = arith.muli %place, %together : index
    %k0 = arith.addi %base, %offset : index
    %kept = arith.muli %u, %together : index
    scf.for %i = %c0 to %together step %c1 {
      %k = arith.addi %k0, %i : index
      %n = arith.addi %kept, %i : index
      scf.for %l = %c0 to %lines step %c1 {
        %line = arith.addi %firstLine, %l : index
        %inLines = arith.cmpi slt, %line, %numLines : index
        %inAlong = arith.cmpi slt, %k, %numAlong : index
        %inside = arith.andi %inLines, %inAlong : i1
        scf.if %inside {
          %v = memref.load %val[%group, %w, %n, %l] : memref<?x?x$KEPTx$ROWSx$E>
          tile.call @put(%v, %d, %line, %k) : ($E, memref<?x?x$E>, index, index) -> ()
        }
      }
    }
  }
  tile.return
}
