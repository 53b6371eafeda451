// Copies $N elements that lie side by side; a program copies $BLOCK of them.
//   type $E = f32
//   integer $N = 96, $BLOCK = 32, $WARPS = 1
tile.kernel @copy(%from: memref<$Nx$E>, %to: memref<$Nx$E>) attributes {warps = $WARPS : i32} {
  %p = tile.program_id 0
  %source = tile.view %from : memref<$Nx$E> to !tile.view<$BLOCKx$E>
  %target = tile.view %to : memref<$Nx$E> to !tile.view<$BLOCKx$E>
  %values = tile.load %source[%p] : !tile.view<$BLOCKx$E> -> tensor<$BLOCKx$E>
  tile.store %values, %target[%p] : tensor<$BLOCKx$E>, !tile.view<$BLOCKx$E>
  tile.return
}
