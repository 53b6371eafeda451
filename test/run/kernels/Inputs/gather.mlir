// Gathers from tiles and addresses, with bounds(trap), and with a value of their own for what is outside.

// Both axes of a tile that is computed, not loaded.
tile.kernel @tile_axes(%x: memref<5x9xf32>, %rows: memref<3x9xi32>, %columns: memref<5x21xi64>, %y: memref<3x9xf32>,
                       %z: memref<5x21xf32>, %w: memref<5x21xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<5x9xf32> to !tile.view<5x9xf32>
  %R = tile.view %rows : memref<3x9xi32> to !tile.view<3x9xi32>
  %C = tile.view %columns : memref<5x21xi64> to !tile.view<5x21xi64>
  %Y = tile.view %y : memref<3x9xf32> to !tile.view<3x9xf32>
  %Z = tile.view %z : memref<5x21xf32> to !tile.view<5x21xf32>
  %W = tile.view %w : memref<5x21xf32> to !tile.view<5x21xf32>
  %v = tile.load %X[%c0, %c0] : !tile.view<5x9xf32> -> tensor<5x9xf32>
  %t = arith.addf %v, %v : tensor<5x9xf32>
  %r = tile.load %R[%c0, %c0] : !tile.view<3x9xi32> -> tensor<3x9xi32>
  %c = tile.load %C[%c0, %c0] : !tile.view<5x21xi64> -> tensor<5x21xi64>
  %other = arith.constant dense<0.25> : tensor<5x21xf32>
  %a = tile.gather %t[%r] axis 0 bounds(clamp) : tensor<5x9xf32>[tensor<3x9xi32>] -> tensor<3x9xf32>
  %b = tile.gather %t[%c] axis 1 other %other bounds(drop) : tensor<5x9xf32>[tensor<5x21xi64>] -> tensor<5x21xf32>
  %zero = arith.constant dense<0> : tensor<5x21xi64>
  %nine = arith.constant dense<9> : tensor<5x21xi64>
  %p = arith.cmpi sge, %c, %zero : tensor<5x21xi64>
  %q = arith.cmpi slt, %c, %nine : tensor<5x21xi64>
  %m = arith.andi %p, %q : tensor<5x21xi1>
  %d = tile.gather %t[%c] axis 1 mask %m bounds(trap) : tensor<5x9xf32>[tensor<5x21xi64>] -> tensor<5x21xf32>
  tile.store %a, %Y[%c0, %c0] : tensor<3x9xf32>, !tile.view<3x9xf32>
  tile.store %b, %Z[%c0, %c0] : tensor<5x21xf32>, !tile.view<5x21xf32>
  tile.store %d, %W[%c0, %c0] : tensor<5x21xf32>, !tile.view<5x21xf32>
  tile.return
}

// Out of one loop-carried tile, again and again: a permutation k times.
tile.kernel @shuffle(%x: memref<40xi32>, %at: memref<40xi32>, %k: index, %y: memref<40xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %X = tile.view %x : memref<40xi32> to !tile.view<40xi32>
  %A = tile.view %at : memref<40xi32> to !tile.view<40xi32>
  %Y = tile.view %y : memref<40xi32> to !tile.view<40xi32>
  %v = tile.load %X[%c0] : !tile.view<40xi32> -> tensor<40xi32>
  %a = tile.load %A[%c0] : !tile.view<40xi32> -> tensor<40xi32>
  %r = scf.for %i = %c0 to %k step %c1 iter_args(%t = %v) -> (tensor<40xi32>) {
    %s = tile.gather %t[%a] axis 0 bounds(trap) : tensor<40xi32>[tensor<40xi32>] -> tensor<40xi32>
    scf.yield %s : tensor<40xi32>
  }
  tile.store %r, %Y[%c0] : tensor<40xi32>, !tile.view<40xi32>
  tile.return
}

// From addresses, and over memory that is then written.
tile.kernel @from_addresses(%base: i64, %at: memref<?xi64>, %y: memref<?xi16>) {
  %c0 = arith.constant 0 : index
  %two = arith.constant dense<2> : tensor<19xi64>
  %A = tile.view %at : memref<?xi64> to !tile.view<19xi64>
  %Y = tile.view %y : memref<?xi16> to !tile.view<19xi16>
  %a = tile.load %A[%c0] : !tile.view<19xi64> -> tensor<19xi64>
  %m = tile.in_bounds %A[%c0] : !tile.view<19xi64> -> tensor<19xi1>
  %b = tile.broadcast %base : i64 -> tensor<19xi64>
  %o = arith.muli %a, %two : tensor<19xi64>
  %p = arith.addi %b, %o : tensor<19xi64>
  %other = arith.constant dense<-5> : tensor<19xi16>
  %v = tile.gather %p mask %m other %other bounds(drop) : tensor<19xi64> -> tensor<19xi16>
  tile.store %v, %Y[%c0] : tensor<19xi16>, !tile.view<19xi16>
  tile.return
}

// Rows and single elements that are all inside; an `other` for those that are not.
tile.kernel @bounds(%x: memref<?x?xf32>, %at: memref<?xi32>, %y: memref<?x?xf32>, %z: memref<?xf32>, %w: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x?xf32> to !tile.view<6x20xf32>
  %A = tile.view %at : memref<?xi32> to !tile.view<6xi32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<6x20xf32>
  %Z = tile.view %z : memref<?xf32> to !tile.view<6xf32>
  %W = tile.view %w : memref<?x?xf32> to !tile.view<6x20xf32>
  %a = tile.load %A[%c0] : !tile.view<6xi32> -> tensor<6xi32>
  %m = tile.in_bounds %A[%c0] : !tile.view<6xi32> -> tensor<6xi1>
  %first = arith.constant dense<0> : tensor<6xi32>
  %r = tile.gather %X[%a, %c0] bounds(trap) : !tile.view<6x20xf32>[tensor<6xi32>, index] -> tensor<6x20xf32>
  %s = tile.gather %x[%a, %first] mask %m bounds(trap) : memref<?x?xf32>[tensor<6xi32>, tensor<6xi32>] -> tensor<6xf32>
  %hundred = arith.constant dense<2> : tensor<6xi32>
  %far = arith.muli %a, %hundred : tensor<6xi32>
  %other = arith.constant dense<-1.0> : tensor<6x20xf32>
  %t = tile.gather %X[%far, %c0] other %other bounds(drop) : !tile.view<6x20xf32>[tensor<6xi32>, index] -> tensor<6x20xf32>
  tile.store %r, %Y[%c0, %c0] : tensor<6x20xf32>, !tile.view<6x20xf32>
  tile.store %s, %Z[%c0] : tensor<6xf32>, !tile.view<6xf32>
  tile.store %t, %W[%c0, %c0] : tensor<6x20xf32>, !tile.view<6x20xf32>
  tile.return
}
