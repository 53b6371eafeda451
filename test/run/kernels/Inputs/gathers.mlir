// Gathers of rows and columns of a view, of single elements of a memref, masked, clamped, dropped; a table of constants.

// Rows of a table by number; numbers beyond the table give zero.
tile.kernel @embedding(%table: memref<?x?xf16>, %id: memref<?xi32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %T = tile.view %table : memref<?x?xf16> to !tile.view<8x40xf16>
  %I = tile.view %id : memref<?xi32> to !tile.view<8xi32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<8x40xf32>
  %row = tile.load %I[%i] : !tile.view<8xi32> -> tensor<8xi32>
  %e = tile.gather %T[%row, %j] bounds(drop) : !tile.view<8x40xf16>[tensor<8xi32>, index] -> tensor<8x40xf16>
  %x = arith.extf %e : tensor<8x40xf16> to tensor<8x40xf32>
  tile.store %x, %Y[%i, %j] : tensor<8x40xf32>, !tile.view<8x40xf32>
  tile.return
}

// Columns by number, clamped to the matrix.
tile.kernel @columns(%a: memref<?x?xf32>, %at: memref<?xi32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<?x?xf32> to !tile.view<6x20xf32>
  %I = tile.view %at : memref<?xi32> to !tile.view<20xi32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<6x20xf32>
  %r = tile.load %I[%c0] : !tile.view<20xi32> -> tensor<20xi32>
  %x = tile.gather %A[%i, %r] bounds(clamp) : !tile.view<6x20xf32>[index, tensor<20xi32>] -> tensor<6x20xf32>
  tile.store %x, %Y[%i, %c0] : tensor<6x20xf32>, !tile.view<6x20xf32>
  tile.return
}

// y[i] = x[at[i]], and 0.5 where at is odd.
tile.kernel @elements(%x: memref<?xf32>, %at: memref<?xi32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %one = arith.constant dense<1> : tensor<50xi32>
  %zero = arith.constant dense<0> : tensor<50xi32>
  %half = arith.constant dense<0.5> : tensor<50xf32>
  %I = tile.view %at : memref<?xi32> to !tile.view<50xi32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<50xf32>
  %k = tile.load %I[%i] : !tile.view<50xi32> -> tensor<50xi32>
  %bit = arith.andi %k, %one : tensor<50xi32>
  %even = arith.cmpi eq, %bit, %zero : tensor<50xi32>
  %v = tile.gather %x[%k] mask %even other %half bounds(drop) : memref<?xf32>[tensor<50xi32>] -> tensor<50xf32>
  tile.store %v, %Y[%i] : tensor<50xf32>, !tile.view<50xf32>
  tile.return
}

tile.kernel @table(%y: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %t = arith.constant dense<[[3, 1, 4], [1, 5, 9]]> : tensor<2x3xi32>
  %u = arith.constant dense<[true, false, true]> : tensor<3xi1>
  %m = tile.broadcast %u axes [0] : tensor<3xi1> -> tensor<2x3xi1>
  %zero = arith.constant dense<0> : tensor<2x3xi32>
  %s = arith.select %m, %t, %zero : tensor<2x3xi1>, tensor<2x3xi32>
  %Y = tile.view %y : memref<?x?xi32> to !tile.view<2x3xi32>
  tile.store %s, %Y[%c0, %c0] : tensor<2x3xi32>, !tile.view<2x3xi32>
  tile.return
}
