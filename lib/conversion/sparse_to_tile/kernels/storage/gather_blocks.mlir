// The blocks of a dense matrix that a row of blocks lists, one after another; what they have beyond the matrix is zero.
//   type $E = f32, $P = i32, $I = i32
//   integer $HEIGHT = 32, $WIDTH = 4
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %d: memref<?x?x$E>, %out: memref<?x$HEIGHTx$WIDTHx$E>) {
  %line = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %next = arith.addi %line, %c1 : index
  %p0 = memref.load %pos[%line] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %D = tile.view %d : memref<?x?x$E> to !tile.view<$HEIGHTx$WIDTHx$E>
  scf.for %e = %begin to %end step %c1 {
    %at = memref.load %crd[%e] : memref<?x$I>
    %block = arith.index_cast %at : $I to index
    %x = tile.load %D[%line, %block] : !tile.view<$HEIGHTx$WIDTHx$E> -> tensor<$HEIGHTx$WIDTHx$E>
    %B = tile.view %out[%e, _, _] : memref<?x$HEIGHTx$WIDTHx$E> to !tile.view<$HEIGHTx$WIDTHx$E>
    tile.store %x, %B[%c0, %c0] : tensor<$HEIGHTx$WIDTHx$E>, !tile.view<$HEIGHTx$WIDTHx$E>
  }
  tile.return
}
