// Packed views: nibbles in the order of an int4 GEMM's words, pairs of bits in bytes along the rows, stores.

#lop3 = #tile.layout<offset [4:d1*2, 2:d1]>
#crumbs = #tile.layout<offset [4:d0]>

tile.kernel @unpack(%w: memref<?x?xi32>, %y: memref<?x?xi8>, %in: memref<?x?xi8>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %W = tile.view %w : memref<?x?xi32> to !tile.view<5x24xi4, packed = #lop3>
  %Y = tile.view %y : memref<?x?xi8> to !tile.view<5x24xi8>
  %N = tile.view %in : memref<?x?xi8> to !tile.view<5x24xi8>
  %q = tile.load %W[%i, %j] : !tile.view<5x24xi4, packed = #lop3> -> tensor<5x24xi4>
  %m = tile.in_bounds %W[%i, %j] : !tile.view<5x24xi4, packed = #lop3> -> tensor<5x24xi1>
  %v = arith.extui %q : tensor<5x24xi4> to tensor<5x24xi8>
  %n = arith.extui %m : tensor<5x24xi1> to tensor<5x24xi8>
  tile.store %v, %Y[%i, %j] : tensor<5x24xi8>, !tile.view<5x24xi8>
  tile.store %n, %N[%i, %j] : tensor<5x24xi8>, !tile.view<5x24xi8>
  tile.return
}

// Four rows share a byte: tiles of six rows meet in the middle of one.
tile.kernel @pack(%x: memref<?x?xi8>, %w: memref<?x?xi8>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %X = tile.view %x : memref<?x?xi8> to !tile.view<6x17xi8>
  %W = tile.view %w : memref<?x?xi8> to !tile.view<6x17xi2, packed = #crumbs>
  %v = tile.load %X[%i, %j] : !tile.view<6x17xi8> -> tensor<6x17xi8>
  %q = arith.trunci %v : tensor<6x17xi8> to tensor<6x17xi2>
  tile.store %q, %W[%i, %j] : tensor<6x17xi2>, !tile.view<6x17xi2, packed = #crumbs>
  tile.return
}
