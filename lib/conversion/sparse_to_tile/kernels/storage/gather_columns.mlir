// As gather_blocks, of blocks that are one column wide. $LINES rows are read together, from their beginning to their
// end, so that memory is read in order.
//   type $E = f32, $P = i32, $I = i32
//   integer $HEIGHT = 32, $LINES = 8, $PARTS = 4, $STEP = 16
tile.kernel @kernel(%pos: memref<?x$P>, %crd: memref<?x$I>, %d: memref<?x?x$E>, %out: memref<?x$HEIGHTx1x$E>) {
  %line = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant $STEP : index
  %parts = arith.constant $PARTS : index
  %next = arith.addi %line, %c1 : index
  %p0 = memref.load %pos[%line] : memref<?x$P>
  %p1 = memref.load %pos[%next] : memref<?x$P>
  %begin = arith.index_cast %p0 : $P to index
  %end = arith.index_cast %p1 : $P to index
  %lane = tile.iota dim 0 : tensor<$STEPxindex>
  %ends = tile.broadcast %end axes [] : index -> tensor<$STEPxindex>
  %nowhere = arith.constant dense<-1> : tensor<$STEPxindex>
  %none = arith.constant dense<-1> : tensor<$STEPx$I>
  %zeros = arith.constant dense<0x0> : tensor<$LINESx$STEPx$E>
  %D = tile.view %d : memref<?x?x$E> to !tile.view<$LINESx$STEPx$E>
  %O = tile.view %out[_, _, %c0] : memref<?x$HEIGHTx1x$E> to !tile.view<$STEPx$LINESx$E>
  %above = arith.muli %line, %parts : index
  scf.for %part = %c0 to %parts step %c1 {
    %row = arith.addi %above, %part : index
    scf.for %e = %begin to %end step %step {
      %shift = tile.broadcast %e axes [] : index -> tensor<$STEPxindex>
      %entry = arith.addi %lane, %shift : tensor<$STEPxindex>
      %inside = arith.cmpi slt, %entry, %ends : tensor<$STEPxindex>
      %c = tile.gather %crd[%entry] other %none bounds(drop) : memref<?x$I>[tensor<$STEPxindex>] -> tensor<$STEPx$I>
      %column = arith.index_cast %c : tensor<$STEPx$I> to tensor<$STEPxindex>
      %x = tile.gather %D[%row, %column] other %zeros bounds(drop) : !tile.view<$LINESx$STEPx$E>[index, tensor<$STEPxindex>] -> tensor<$LINESx$STEPx$E>
      %y = tile.transpose %x [1, 0] : tensor<$LINESx$STEPx$E> -> tensor<$STEPx$LINESx$E>
      %at = arith.select %inside, %entry, %nowhere : tensor<$STEPxi1>, tensor<$STEPxindex>
      tile.scatter %y, %O[%at, %part] bounds(drop) : tensor<$STEPx$LINESx$E>, !tile.view<$STEPx$LINESx$E>[tensor<$STEPxindex>, index]
    }
  }
  tile.return
}
