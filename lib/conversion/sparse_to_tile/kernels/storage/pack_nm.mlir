// One window of one group: what is not zero, then the first free places until there are $KEPT.
//   type $E = f32, $I = i32
//   op $NARROW = arith.bitcast
//   integer $PLACES = 32, $TOGETHER = 1, $ROWS = 32, $WINDOW = 32, $UNITS = 4, $KEPT = 4, $ACROSS = 0, $ALONG = 1
!places = tensor<$PLACESx$TOGETHERx$ROWSxindex>
tile.func private @differs(tensor<$ROWSx$WINDOWx$E>, tensor<$ROWSx$WINDOWx$E>) -> tensor<$ROWSx$WINDOWxi1>
tile.kernel @kernel(%d: memref<?x?x$E>, %crd: memref<?x?x$UNITSx$I>, %val: memref<?x?x$KEPTx$ROWSx$E>) {
  %group = tile.program_id 0
  %w = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lines = arith.constant $ROWS : index
  %places = arith.constant $PLACES : index
  %units = arith.constant $UNITS : index
  %D = tile.view %d : memref<?x?x$E> to !tile.view<$ROWSx$WINDOWx$E, order = [$ACROSS, $ALONG]>
  %x = tile.load %D[%group, %w] : !tile.view<$ROWSx$WINDOWx$E, order = [$ACROSS, $ALONG]> -> tensor<$ROWSx$WINDOWx$E>
  %zero = arith.constant dense<0x0> : tensor<$ROWSx$WINDOWx$E>
  %differs = tile.call @differs(%x, %zero) : (tensor<$ROWSx$WINDOWx$E>, tensor<$ROWSx$WINDOWx$E>) -> tensor<$ROWSx$WINDOWxi1>
  %bits = arith.extui %differs : tensor<$ROWSx$WINDOWxi1> to tensor<$ROWSx$WINDOWxi32>
  %column = tile.reduce {arith.ori} %bits axes [0] : tensor<$ROWSx$WINDOWxi32> -> tensor<$WINDOWxi32>
  %grouped = tile.reshape %column : tensor<$WINDOWxi32> -> tensor<$PLACESx$TOGETHERxi32>
  %stored = tile.reduce {arith.ori} %grouped axes [1] : tensor<$PLACESx$TOGETHERxi32> -> tensor<$PLACESxi32>
  %count = tile.reduce {arith.addi} %stored axes [0] : tensor<$PLACESxi32> -> i32
  %wanted = arith.constant $UNITS : i32
  %fits = arith.cmpi sle, %count, %wanted : i32
  tile.assert %fits, "a window holds more than $KEPT of $WINDOW elements that are not zero" : i1
  %spare = arith.subi %wanted, %count : i32
  %ones = arith.constant dense<1> : tensor<$PLACESxi32>
  %free = arith.subi %ones, %stored : tensor<$PLACESxi32>
  %rank = tile.scan {arith.addi} %free axis 0 exclusive : tensor<$PLACESxi32>
  %spares = tile.broadcast %spare axes [] : i32 -> tensor<$PLACESxi32>
  %fills = arith.cmpi slt, %rank, %spares : tensor<$PLACESxi32>
  %used = arith.cmpi ne, %free, %ones : tensor<$PLACESxi32>
  %taken = arith.ori %fills, %used : tensor<$PLACESxi1>
  %one = arith.extui %taken : tensor<$PLACESxi1> to tensor<$PLACESxi32>
  %unit32 = tile.scan {arith.addi} %one axis 0 exclusive : tensor<$PLACESxi32>
  %unit = arith.index_cast %unit32 : tensor<$PLACESxi32> to tensor<$PLACESxindex>
  %place = tile.iota dim 0 : tensor<$PLACESxi32>
  %narrow = $NARROW %place : tensor<$PLACESxi32> to tensor<$PLACESx$I>
  %groups = tile.broadcast %group axes [] : index -> tensor<$PLACESxindex>
  %windows = tile.broadcast %w axes [] : index -> tensor<$PLACESxindex>
  tile.scatter %narrow, %crd[%groups, %windows, %unit] mask %taken bounds(drop)
      : tensor<$PLACESx$I>, memref<?x?x$UNITSx$I>[tensor<$PLACESxindex>, tensor<$PLACESxindex>, tensor<$PLACESxindex>]
  %split = tile.reshape %x : tensor<$ROWSx$WINDOWx$E> -> tensor<$ROWSx$PLACESx$TOGETHERx$E>
  %turned = tile.transpose %split [1, 2, 0] : tensor<$ROWSx$PLACESx$TOGETHERx$E> -> tensor<$PLACESx$TOGETHERx$ROWSx$E>
  %begin1 = arith.constant dense<$TOGETHER> : tensor<$PLACESxindex>
  %kept = arith.muli %unit, %begin1 : tensor<$PLACESxindex>
  %keptAll = tile.broadcast %kept axes [1, 2] : tensor<$PLACESxindex> -> tensor<$PLACESx$TOGETHERx$ROWSxindex>
  %within = tile.iota dim 1 : tensor<$PLACESx$TOGETHERx$ROWSxindex>
  %n = arith.addi %keptAll, %within : tensor<$PLACESx$TOGETHERx$ROWSxindex>
  %line = tile.iota dim 2 : tensor<$PLACESx$TOGETHERx$ROWSxindex>
  %mask = tile.broadcast %taken axes [1, 2] : tensor<$PLACESxi1> -> tensor<$PLACESx$TOGETHERx$ROWSxi1>
  %gs = tile.broadcast %group axes [] : index -> tensor<$PLACESx$TOGETHERx$ROWSxindex>
  %ws = tile.broadcast %w axes [] : index -> tensor<$PLACESx$TOGETHERx$ROWSxindex>
  tile.scatter %turned, %val[%gs, %ws, %n, %line] mask %mask bounds(drop)
      : tensor<$PLACESx$TOGETHERx$ROWSx$E>, memref<?x?x$KEPTx$ROWSx$E>[!places, !places, !places, !places]
  tile.return
}
