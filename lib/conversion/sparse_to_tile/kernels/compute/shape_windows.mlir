// The values of a window where they belong.
//   type $E = f32
//   integer $KEPT = 4, $ROWS = 32
tile.kernel @kernel(%flat: memref<?x$E>, %out: memref<?x?x$KEPTx$ROWSx$E>) {
  %group = tile.program_id 0
  %w = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kept = arith.constant $KEPT : index
  %lines = arith.constant $ROWS : index
  %windows = memref.dim %out, %c1 : memref<?x?x$KEPTx$ROWSx$E>
  %groupWindows = arith.muli %group, %windows : index
  %window = arith.addi %groupWindows, %w : index
  %before = arith.muli %window, %kept : index
  scf.for %n = %c0 to %kept step %c1 {
    %number = arith.addi %before, %n : index
    %first = arith.muli %number, %lines : index
    scf.for %l = %c0 to %lines step %c1 {
      %slot = arith.addi %first, %l : index
      %v = memref.load %flat[%slot] : memref<?x$E>
      memref.store %v, %out[%group, %w, %n, %l] : memref<?x?x$KEPTx$ROWSx$E>
    }
  }
  tile.return
}
