// Sorting and selecting: nan last in ascending order, stable, with payloads.

// Keys with their positions, both ways; the rows are ragged, padding sorts last.
tile.kernel @rows(%x: memref<?x?xf32>, %up: memref<?x?xf32>, %at: memref<?x?xi32>, %down: memref<?x?xi32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x?xf32> to !tile.view<3x37xf32, pad = nan>
  %U = tile.view %up : memref<?x?xf32> to !tile.view<3x37xf32>
  %A = tile.view %at : memref<?x?xi32> to !tile.view<3x37xi32>
  %D = tile.view %down : memref<?x?xi32> to !tile.view<3x37xi32>
  %v = tile.load %X[%i, %c0] : !tile.view<3x37xf32, pad = nan> -> tensor<3x37xf32>
  %p = tile.iota dim 1 : tensor<3x37xi32>
  %k, %q = tile.sort %v, %p axis 1 : tensor<3x37xf32>, tensor<3x37xi32>
  %l, %r = tile.sort %v, %p axis 1 descending : tensor<3x37xf32>, tensor<3x37xi32>
  tile.store %k, %U[%i, %c0] : tensor<3x37xf32>, !tile.view<3x37xf32>
  tile.store %q, %A[%i, %c0] : tensor<3x37xi32>, !tile.view<3x37xi32>
  tile.store %r, %D[%i, %c0] : tensor<3x37xi32>, !tile.view<3x37xi32>
  tile.return
}

// Columns of a middle axis, of bytes that are computed, with two payloads, one of them half precision.
tile.kernel @columns(%x: memref<4x50x3xi8>, %h: memref<4x50x3xf16>, %y: memref<4x50x3xi8>, %at: memref<4x50x3xi64>,
                     %g: memref<4x50x3xf16>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<4x50x3xi8> to !tile.view<4x50x3xi8>
  %H = tile.view %h : memref<4x50x3xf16> to !tile.view<4x50x3xf16>
  %Y = tile.view %y : memref<4x50x3xi8> to !tile.view<4x50x3xi8>
  %A = tile.view %at : memref<4x50x3xi64> to !tile.view<4x50x3xi64>
  %G = tile.view %g : memref<4x50x3xf16> to !tile.view<4x50x3xf16>
  %v = tile.load %X[%c0, %c0, %c0] : !tile.view<4x50x3xi8> -> tensor<4x50x3xi8>
  %w = arith.addi %v, %v : tensor<4x50x3xi8>
  %n = tile.load %H[%c0, %c0, %c0] : !tile.view<4x50x3xf16> -> tensor<4x50x3xf16>
  %p = tile.iota dim 1 : tensor<4x50x3xindex>
  %k, %q, %m = tile.sort %w, %p, %n axis 1 descending : tensor<4x50x3xi8>, tensor<4x50x3xindex>, tensor<4x50x3xf16>
  %r = arith.index_cast %q : tensor<4x50x3xindex> to tensor<4x50x3xi64>
  tile.store %k, %Y[%c0, %c0, %c0] : tensor<4x50x3xi8>, !tile.view<4x50x3xi8>
  tile.store %r, %A[%c0, %c0, %c0] : tensor<4x50x3xi64>, !tile.view<4x50x3xi64>
  tile.store %m, %G[%c0, %c0, %c0] : tensor<4x50x3xf16>, !tile.view<4x50x3xf16>
  tile.return
}

// The few largest and the many smallest of doubles and of wide integers.
tile.kernel @select(%x: memref<?xf64>, %n: memref<?xi64>, %few: memref<5xf64>, %at: memref<5xi32>, %many: memref<40xi64>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?xf64> to !tile.view<211xf64, pad = neg_inf>
  %N = tile.view %n : memref<?xi64> to !tile.view<211xi64>
  %F = tile.view %few : memref<5xf64> to !tile.view<5xf64>
  %A = tile.view %at : memref<5xi32> to !tile.view<5xi32>
  %M = tile.view %many : memref<40xi64> to !tile.view<40xi64>
  %v = tile.load %X[%c0] : !tile.view<211xf64, pad = neg_inf> -> tensor<211xf64>
  %w = tile.load %N[%c0] : !tile.view<211xi64> -> tensor<211xi64>
  %p = tile.iota dim 0 : tensor<211xi32>
  %k, %q = tile.topk %v, %p axis 0 descending : tensor<211xf64>, tensor<211xi32> -> tensor<5xf64>, tensor<5xi32>
  %m = tile.topk %w axis 0 : tensor<211xi64> -> tensor<40xi64>
  tile.store %k, %F[%c0] : tensor<5xf64>, !tile.view<5xf64>
  tile.store %q, %A[%c0] : tensor<5xi32>, !tile.view<5xi32>
  tile.store %m, %M[%c0] : tensor<40xi64>, !tile.view<40xi64>
  tile.return
}
