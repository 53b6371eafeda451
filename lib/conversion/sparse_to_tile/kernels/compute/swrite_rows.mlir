// A row of packed slices goes where a list of these says; one that the matrix does not have goes nowhere.
//   type $E = f32, $I = i32
//   integer $BY = 2, $COLUMNS = 32
tile.kernel @kernel(%packed: memref<?x?x$E>, %crd: memref<?x$I>, %out: memref<?x?x$E>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %by = arith.constant $BY : index
  %rows = memref.dim %out, %c0 : memref<?x?x$E>
  %slot = arith.divui %i, %by : index
  %j = arith.remui %i, %by : index
  %c = memref.load %crd[%slot] : memref<?x$I>
  %slice = arith.index_cast %c : $I to index
  %first = arith.muli %slice, %by : index
  %row = arith.addi %first, %j : index
  %isInside = arith.cmpi ult, %row, %rows : index
  scf.if %isInside {
    %P = tile.view %packed[%i, _] : memref<?x?x$E> to !tile.view<$COLUMNSx$E>
    %O = tile.view %out[%row, _] : memref<?x?x$E> to !tile.view<$COLUMNSx$E>
    %tiles = tile.num_tiles %O dim 0 : !tile.view<$COLUMNSx$E>
    scf.for %t = %c0 to %tiles step %c1 {
      %x = tile.load %P[%t] : !tile.view<$COLUMNSx$E> -> tensor<$COLUMNSx$E>
      tile.store %x, %O[%t] : tensor<$COLUMNSx$E>, !tile.view<$COLUMNSx$E>
    }
  }
  tile.return
}
