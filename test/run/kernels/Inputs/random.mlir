// Random words and histograms.

tile.kernel @words(%seed: i64, %y: memref<?x4xi32>) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %i = tile.program_id 0
  %from = arith.muli %i, %c5 : index
  %Y = tile.view %y : memref<?x4xi32> to !tile.view<5x4xi32>
  %c = tile.iota dim 0 from %from : tensor<5xindex>
  %b = tile.random %seed, %c : i64, tensor<5xindex> -> tensor<5x4xi32>
  tile.store %b, %Y[%i, %c0] : tensor<5x4xi32>, !tile.view<5x4xi32>
  tile.return
}

// Counters of any value, of 64 and of 32 bits, and one scalar.
tile.kernel @counters(%seed: i64, %wide: memref<3x7xi64>, %narrow: memref<11xi32>, %one: i32, %y: memref<3x7x4xi32>,
                      %z: memref<11x4xi32>, %w: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %A = tile.view %wide : memref<3x7xi64> to !tile.view<3x7xi64>
  %B = tile.view %narrow : memref<11xi32> to !tile.view<11xi32>
  %Y = tile.view %y : memref<3x7x4xi32> to !tile.view<3x7x4xi32>
  %Z = tile.view %z : memref<11x4xi32> to !tile.view<11x4xi32>
  %W = tile.view %w : memref<4xi32> to !tile.view<4xi32>
  %a = tile.load %A[%c0, %c0] : !tile.view<3x7xi64> -> tensor<3x7xi64>
  %b = tile.load %B[%c0] : !tile.view<11xi32> -> tensor<11xi32>
  %r = tile.random %seed, %a : i64, tensor<3x7xi64> -> tensor<3x7x4xi32>
  %s = tile.random %seed, %b : i64, tensor<11xi32> -> tensor<11x4xi32>
  %t = tile.random %seed, %one : i64, i32 -> tensor<4xi32>
  tile.store %r, %Y[%c0, %c0, %c0] : tensor<3x7x4xi32>, !tile.view<3x7x4xi32>
  tile.store %s, %Z[%c0, %c0] : tensor<11x4xi32>, !tile.view<11x4xi32>
  tile.store %t, %W[%c0] : tensor<4xi32>, !tile.view<4xi32>
  tile.return
}

// Every program counts its part and adds it to what the others counted.
tile.kernel @histogram(%x: memref<?xi8>, %bins: memref<200xi64>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?xi8> to !tile.view<37xi8>
  %B = tile.view %bins : memref<200xi64> to !tile.view<200xi64>
  %v = tile.load %X[%i] : !tile.view<37xi8> -> tensor<37xi8>
  %in = tile.in_bounds %X[%i] : !tile.view<37xi8> -> tensor<37xi1>
  %c = tile.histogram %v mask %in : tensor<37xi8> -> tensor<200xi64>
  tile.store %c, %B[%c0] combine(add) : tensor<200xi64>, !tile.view<200xi64>
  tile.return
}

// Negative numbers are large; without a mask the padding counts as zeros. Counts of 8 bits wrap.
tile.kernel @histogram_all(%x: memref<?xi32>, %bins: memref<3xi8>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?xi32> to !tile.view<600xi32>
  %B = tile.view %bins : memref<3xi8> to !tile.view<3xi8>
  %v = tile.load %X[%c0] : !tile.view<600xi32> -> tensor<600xi32>
  %c = tile.histogram %v : tensor<600xi32> -> tensor<3xi8>
  tile.store %c, %B[%c0] : tensor<3xi8>, !tile.view<3xi8>
  tile.return
}
