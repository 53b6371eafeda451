// How many elements of a row are not zero.
//   type $E = f32, $P = i32
//   integer $COLUMNS = 32
tile.func private @differs(tensor<$COLUMNSx$E>, tensor<$COLUMNSx$E>) -> tensor<$COLUMNSxi1>
tile.kernel @kernel(%d: memref<?x?x$E>, %count: memref<?x$P>) {
  %row = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %D = tile.view %d[%row, _] : memref<?x?x$E> to !tile.view<$COLUMNSx$E>
  %tiles = tile.num_tiles %D dim 0 : !tile.view<$COLUMNSx$E>
  %zero = arith.constant dense<0x0> : tensor<$COLUMNSx$E>
  %none = arith.constant dense<0> : tensor<$COLUMNSx$P>
  %counts = scf.for %t = %c0 to %tiles step %c1 iter_args(%sum = %none) -> (tensor<$COLUMNSx$P>) {
    %x = tile.load %D[%t] : !tile.view<$COLUMNSx$E> -> tensor<$COLUMNSx$E>
    %some = tile.call @differs(%x, %zero) : (tensor<$COLUMNSx$E>, tensor<$COLUMNSx$E>) -> tensor<$COLUMNSxi1>
    %one = arith.extui %some : tensor<$COLUMNSxi1> to tensor<$COLUMNSx$P>
    %new = arith.addi %sum, %one : tensor<$COLUMNSx$P>
    scf.yield %new : tensor<$COLUMNSx$P>
  }
  %n = tile.reduce {arith.addi} %counts axes [0] : tensor<$COLUMNSx$P> -> $P
  memref.store %n, %count[%row] : memref<?x$P>
  tile.return
}
