// Tiles that change shape: transposes by op and by view, reshape, slice, cat, insert, overlapping and strided views.

tile.kernel @transpose(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %A = tile.view %a : memref<?x?xf32> to !tile.view<24x16xf32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<16x24xf32>
  %x = tile.load %A[%j, %i] : !tile.view<24x16xf32> -> tensor<24x16xf32>
  %t = tile.transpose %x [1, 0] : tensor<24x16xf32> -> tensor<16x24xf32>
  tile.store %t, %Y[%i, %j] : tensor<16x24xf32>, !tile.view<16x24xf32>
  tile.return
}

tile.kernel @transposing_view(%a: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %A = tile.view %a : memref<?x?xf32> to !tile.view<16x24xf32, order = [1, 0]>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<16x24xf32>
  %x = tile.load %A[%i, %j] : !tile.view<16x24xf32, order = [1, 0]> -> tensor<16x24xf32>
  tile.store %x, %Y[%i, %j] : tensor<16x24xf32>, !tile.view<16x24xf32>
  tile.return
}

// In place: the tile must be read whole before it is written.
tile.kernel @transpose_in_place(%y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<32x32xf32>
  %x = tile.load %Y[%c0, %c0] : !tile.view<32x32xf32> -> tensor<32x32xf32>
  %t = tile.transpose %x [1, 0] : tensor<32x32xf32> -> tensor<32x32xf32>
  tile.store %t, %Y[%c0, %c0] : tensor<32x32xf32>, !tile.view<32x32xf32>
  tile.return
}

tile.kernel @permute(%a: memref<?x?x?xf32>, %y: memref<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<?x?x?xf32> to !tile.view<4x6x20xf32>
  %Y = tile.view %y : memref<?x?x?xf32> to !tile.view<6x20x4xf32>
  %x = tile.load %A[%c0, %c0, %c0] : !tile.view<4x6x20xf32> -> tensor<4x6x20xf32>
  %t = tile.transpose %x [1, 2, 0] : tensor<4x6x20xf32> -> tensor<6x20x4xf32>
  tile.store %t, %Y[%c0, %c0, %c0] : tensor<6x20x4xf32>, !tile.view<6x20x4xf32>
  tile.return
}

tile.kernel @reshapes(%a: memref<?xf32>, %y: memref<?x?xf32>, %z: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<?xf32> to !tile.view<240xf32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<5x48xf32>
  %Z = tile.view %z : memref<?x?xf32> to !tile.view<24x10xf32>
  %x = tile.load %A[%c0] : !tile.view<240xf32> -> tensor<240xf32>
  %r = tile.reshape %x : tensor<240xf32> -> tensor<5x48xf32>
  tile.store %r, %Y[%c0, %c0] : tensor<5x48xf32>, !tile.view<5x48xf32>
  %q = tile.reshape %r : tensor<5x48xf32> -> tensor<24x10xf32>
  tile.store %q, %Z[%c0, %c0] : tensor<24x10xf32>, !tile.view<24x10xf32>
  tile.return
}

// y = [b | a[2:4, k:k+8]] with a 2 x 3 corner of zeros put in at (0, 1).
tile.kernel @parts(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %k: index, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<1x3xf32>
  %A = tile.view %a : memref<?x?xf32> to !tile.view<5x24xf32>
  %B = tile.view %b : memref<?x?xf32> to !tile.view<2x17xf32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<2x25xf32>
  %x = tile.load %A[%c0, %c0] : !tile.view<5x24xf32> -> tensor<5x24xf32>
  %w = tile.load %B[%c0, %c0] : !tile.view<2x17xf32> -> tensor<2x17xf32>
  %s = tile.slice %x[2, %k] : tensor<5x24xf32> -> tensor<2x8xf32>
  %c = tile.cat %w, %s axis 1 : tensor<2x17xf32>, tensor<2x8xf32> -> tensor<2x25xf32>
  %i = tile.insert %zero into %c[0, 1] : tensor<1x3xf32>, tensor<2x25xf32> -> tensor<2x25xf32>
  tile.store %i, %Y[%c0, %c0] : tensor<2x25xf32>, !tile.view<2x25xf32>
  tile.return
}

// y[i] = a[2 i - 1] + a[2 i]: a view that begins one element before the memory, with stride 2.
tile.kernel @pairs(%a: memref<?xf32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %A = tile.view %a : memref<?xf32> to !tile.view<20xf32, steps = [1], strides = [2]>
  %Y = tile.view %y : memref<?xf32> to !tile.view<20xf32>
  %even = arith.muli %i, %c40 : index
  %odd = arith.subi %even, %c1 : index
  %x = tile.load %A[%odd] : !tile.view<20xf32, steps = [1], strides = [2]> -> tensor<20xf32>
  %z = tile.load %A[%even] : !tile.view<20xf32, steps = [1], strides = [2]> -> tensor<20xf32>
  %s = arith.addf %x, %z : tensor<20xf32>
  tile.store %s, %Y[%i] : tensor<20xf32>, !tile.view<20xf32>
  tile.return
}
