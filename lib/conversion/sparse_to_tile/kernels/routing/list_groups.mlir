// Where the numbers of a group stand, in ascending order: a program for each group, and one for the numbers of none,
// whose places are -1. Each program looks at all numbers twice; no program waits for another.
//   type $N = i64, $P = i32, $I = i32
//   integer $COLUMNS = 64
!places = tensor<$COLUMNSxindex>
!bits = tensor<$COLUMNSxi1>
tile.func private @check(!bits)
tile.kernel @kernel(%numbers: memref<?x$N>, %pos: memref<?x$P>, %crd: memref<?x$I>) {
  %group = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %width = arith.constant $COLUMNS : index
  %count = memref.dim %numbers, %c0 : memref<?x$N>
  %ends = memref.dim %pos, %c0 : memref<?x$P>
  %last = arith.subi %ends, %c1 : index
  %N = tile.view %numbers : memref<?x$N> to !tile.view<$COLUMNSx$N>
  %tiles = tile.num_tiles %N dim 0 : !tile.view<$COLUMNSx$N>
  %lane = tile.iota dim 0 : !places
  %zeros = arith.constant dense<0> : !places
  %here = tile.broadcast %group axes [] : index -> !places
  %groups = tile.broadcast %last axes [] : index -> !places
  %beyond = tile.broadcast %ends axes [] : index -> !places
  %all = tile.broadcast %count axes [] : index -> !places
  %isLast = arith.cmpi eq, %group, %last : index
  %counts = scf.for %t = %c0 to %tiles step %c1 iter_args(%sum = %zeros) -> (!places) {
    %n = tile.load %N[%t] : !tile.view<$COLUMNSx$N> -> tensor<$COLUMNSx$N>
    %number = arith.index_cast %n : tensor<$COLUMNSx$N> to !places
    %isGroup = arith.cmpi ult, %number, %groups : !places
    %first = arith.muli %t, %width : index
    %shift = tile.broadcast %first axes [] : index -> !places
    %place = arith.addi %lane, %shift : !places
    %isBeyond = arith.cmpi sge, %place, %all : !places
    %fine = arith.ori %isGroup, %isBeyond : !bits
    tile.call @check(%fine) : (!bits) -> ()
    %key = arith.select %isGroup, %number, %groups : !bits, !places
    %isBefore = arith.cmpi ult, %key, %here : !places
    %isInside = arith.cmpi slt, %place, %all : !places
    %counted = arith.andi %isBefore, %isInside : !bits
    %bits = arith.extui %counted : !bits to tensor<$COLUMNSxi32>
    %one = arith.index_cast %bits : tensor<$COLUMNSxi32> to !places
    %new = arith.addi %sum, %one : !places
    scf.yield %new : !places
  }
  %begin = tile.reduce {arith.addi} %counts axes [0] : !places -> index
  %position = arith.index_cast %begin : index to $P
  memref.store %position, %pos[%group] : memref<?x$P>
  %none = arith.constant dense<-1> : !places
  %end = scf.for %t = %c0 to %tiles step %c1 iter_args(%at = %begin) -> (index) {
    %n = tile.load %N[%t] : !tile.view<$COLUMNSx$N> -> tensor<$COLUMNSx$N>
    %number = arith.index_cast %n : tensor<$COLUMNSx$N> to !places
    %isGroup = arith.cmpi ult, %number, %groups : !places
    %first = arith.muli %t, %width : index
    %shift = tile.broadcast %first axes [] : index -> !places
    %place = arith.addi %lane, %shift : !places
    %isInside = arith.cmpi slt, %place, %all : !places
    %some = arith.select %isGroup, %number, %groups : !bits, !places
    %key = arith.select %isInside, %some, %beyond : !bits, !places
    %isHere = arith.cmpi eq, %key, %here : !places
    %bits = arith.extui %isHere : !bits to tensor<$COLUMNSxi32>
    %one = arith.index_cast %bits : tensor<$COLUMNSxi32> to !places
    %before = tile.scan {arith.addi} %one axis 0 exclusive : !places
    %found = tile.reduce {arith.addi} %one axes [0] : !places -> index
    %base = tile.broadcast %at axes [] : index -> !places
    %to = arith.addi %base, %before : !places
    %listed = arith.select %isLast, %none, %place : !places
    %narrow = arith.index_cast %listed : !places to tensor<$COLUMNSx$I>
    tile.scatter %narrow, %crd[%to] mask %isHere bounds(trap) : tensor<$COLUMNSx$I>, memref<?x$I>[!places]
    %next = arith.addi %at, %found : index
    scf.yield %next : index
  }
  tile.return
}
