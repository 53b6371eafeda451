// Which micro-tiles of a group of rows hold something, $UNITS of $BY columns at a time: rows are looked at whole.
//   type $E = f32
//   integer $COLUMNS = 64, $UNITS = 32, $BY = 2
tile.func private @differs(tensor<$COLUMNSx$E>, tensor<$COLUMNSx$E>) -> tensor<$COLUMNSxi1>
tile.kernel @kernel(%d: memref<?x?x$E>, %rows: index, %height: index, %marks: memref<?x?xi32>) {
  %group = tile.program_id 0
  %chunk = tile.program_id 1
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0x0> : tensor<$COLUMNSx$E>
  %none = arith.constant dense<0> : tensor<$COLUMNSxi32>
  %r0 = arith.muli %group, %height : index
  %r1 = arith.addi %r0, %height : index
  %r2 = arith.minsi %r1, %rows : index
  %found = scf.for %r = %r0 to %r2 step %c1 iter_args(%some = %none) -> (tensor<$COLUMNSxi32>) {
    %D = tile.view %d[%r, _] : memref<?x?x$E> to !tile.view<$COLUMNSx$E>
    %x = tile.load %D[%chunk] : !tile.view<$COLUMNSx$E> -> tensor<$COLUMNSx$E>
    %differs = tile.call @differs(%x, %zero) : (tensor<$COLUMNSx$E>, tensor<$COLUMNSx$E>) -> tensor<$COLUMNSxi1>
    %one = arith.extui %differs : tensor<$COLUMNSxi1> to tensor<$COLUMNSxi32>
    %more = arith.ori %some, %one : tensor<$COLUMNSxi32>
    scf.yield %more : tensor<$COLUMNSxi32>
  }
  %units = tile.reshape %found : tensor<$COLUMNSxi32> -> tensor<$UNITSx$BYxi32>
  %unit = tile.reduce {arith.ori} %units axes [1] : tensor<$UNITSx$BYxi32> -> tensor<$UNITSxi32>
  %M = tile.view %marks[%group, _] : memref<?x?xi32> to !tile.view<$UNITSxi32>
  tile.store %unit, %M[%chunk] : tensor<$UNITSxi32>, !tile.view<$UNITSxi32>
  tile.return
}
