// $COLUMNS columns of a matrix after each other, $DOWN rows at a time: all rows of a panel lie together.
//   type $E = f32
//   integer $COLUMNS = 32, $DOWN = 2
tile.kernel @kernel(%b: memref<?x?x$E>, %out: memref<?x?x$COLUMNSx$E>) {
  %panel = tile.program_id 0
  %i = tile.program_id 1
  %c0 = arith.constant 0 : index
  %B = tile.view %b : memref<?x?x$E> to !tile.view<$DOWNx$COLUMNSx$E>
  %P = tile.view %out[%panel, _, _] : memref<?x?x$COLUMNSx$E> to !tile.view<$DOWNx$COLUMNSx$E>
  %x = tile.load %B[%i, %panel] : !tile.view<$DOWNx$COLUMNSx$E> -> tensor<$DOWNx$COLUMNSx$E>
  tile.store %x, %P[%i, %c0] : tensor<$DOWNx$COLUMNSx$E>, !tile.view<$DOWNx$COLUMNSx$E>
  tile.return
}
