// Blocks with their axes swapped, $HIGH x $WIDE of one at a time: a column of a block is then contiguous.
//   type $E = f32
//   integer $ROWS = 32, $DEPTH = 32, $DOWN = 2, $ACROSS = 2, $HIGH = 16, $WIDE = 16
tile.kernel @kernel(%val: memref<?x$ROWSx$DEPTHx$E>, %out: memref<?x$DEPTHx$ROWSx$E>) {
  %e = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %down = arith.constant $DOWN : index
  %across = arith.constant $ACROSS : index
  %V = tile.view %val[%e, _, _] : memref<?x$ROWSx$DEPTHx$E> to !tile.view<$HIGHx$WIDEx$E>
  %T = tile.view %out[%e, _, _] : memref<?x$DEPTHx$ROWSx$E> to !tile.view<$WIDEx$HIGHx$E>
  scf.for %i = %c0 to %down step %c1 {
    scf.for %j = %c0 to %across step %c1 {
      %x = tile.load %V[%i, %j] : !tile.view<$HIGHx$WIDEx$E> -> tensor<$HIGHx$WIDEx$E>
      %y = tile.transpose %x [1, 0] : tensor<$HIGHx$WIDEx$E> -> tensor<$WIDEx$HIGHx$E>
      tile.store %y, %T[%j, %i] : tensor<$WIDEx$HIGHx$E>, !tile.view<$WIDEx$HIGHx$E>
    }
  }
  tile.return
}
