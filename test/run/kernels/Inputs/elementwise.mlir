// Elementwise programs over views: ragged edges, in place, narrow and wide types, constants and masks.

tile.kernel @vector_add(%a: memref<?xf32>, %b: memref<?xf32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %A = tile.view %a : memref<?xf32> to !tile.view<1024xf32>
  %B = tile.view %b : memref<?xf32> to !tile.view<1024xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<1024xf32>
  %x0 = tile.load %A[%i] : !tile.view<1024xf32> -> tensor<1024xf32>
  %x1 = tile.load %B[%i] : !tile.view<1024xf32> -> tensor<1024xf32>
  %s = arith.addf %x0, %x1 : tensor<1024xf32>
  tile.store %s, %Y[%i] : tensor<1024xf32>, !tile.view<1024xf32>
  tile.return
}

// Tiles of a width that is not a multiple of a vector.
tile.kernel @scale(%a: memref<?x?xf64>, %f: f64, %y: memref<?x?xf64>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %A = tile.view %a : memref<?x?xf64> to !tile.view<3x37xf64>
  %Y = tile.view %y : memref<?x?xf64> to !tile.view<3x37xf64>
  %x = tile.load %A[%i, %j] : !tile.view<3x37xf64> -> tensor<3x37xf64>
  %fb = tile.broadcast %f : f64 -> tensor<3x37xf64>
  %s = arith.mulf %x, %fb : tensor<3x37xf64>
  tile.store %s, %Y[%i, %j] : tensor<3x37xf64>, !tile.view<3x37xf64>
  tile.return
}

// y = y * 2 + 1 over the very tile that was loaded.
tile.kernel @in_place(%y: memref<?xf32>) {
  %i = tile.program_id 0
  %one = arith.constant dense<1.0> : tensor<48xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<48xf32>
  %x = tile.load %Y[%i] : !tile.view<48xf32> -> tensor<48xf32>
  %t = arith.addf %x, %x : tensor<48xf32>
  %s = arith.addf %t, %one : tensor<48xf32>
  tile.store %s, %Y[%i] : tensor<48xf32>, !tile.view<48xf32>
  tile.return
}

// The memory of a tile that was loaded is overwritten before the tile is used: rows 0 and 1 change places.
tile.kernel @swap_rows(%y: memref<2x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %Y = tile.view %y : memref<2x?xf32> to !tile.view<1x64xf32>
  %a = tile.load %Y[%c0, %c0] : !tile.view<1x64xf32> -> tensor<1x64xf32>
  %b = tile.load %Y[%c1, %c0] : !tile.view<1x64xf32> -> tensor<1x64xf32>
  tile.store %b, %Y[%c0, %c0] : tensor<1x64xf32>, !tile.view<1x64xf32>
  tile.store %a, %Y[%c1, %c0] : tensor<1x64xf32>, !tile.view<1x64xf32>
  tile.return
}

// f16 and bf16 through f32; integers widened; a mask kept as a tile.
tile.kernel @mixed(%a: memref<?xf16>, %b: memref<?xi8>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<40xf32>
  %A = tile.view %a : memref<?xf16> to !tile.view<40xf16>
  %B = tile.view %b : memref<?xi8> to !tile.view<40xi8>
  %Y = tile.view %y : memref<?xf32> to !tile.view<40xf32>
  %h = tile.load %A[%i] : !tile.view<40xf16> -> tensor<40xf16>
  %n = tile.load %B[%i] : !tile.view<40xi8> -> tensor<40xi8>
  %x = arith.extf %h : tensor<40xf16> to tensor<40xf32>
  %m = arith.sitofp %n : tensor<40xi8> to tensor<40xf32>
  %pos = arith.cmpf ogt, %m, %zero : tensor<40xf32>
  %s = arith.select %pos, %x, %m : tensor<40xi1>, tensor<40xf32>
  tile.store %s, %Y[%i] : tensor<40xf32>, !tile.view<40xf32>
  tile.return
}

// i * 100 + j, from iota in both dimensions.
tile.kernel @numbers(%y: memref<?x?xi32>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c5 = arith.constant 5 : index
  %c21 = arith.constant 21 : index
  %r0 = arith.muli %i, %c5 : index
  %q0 = arith.muli %j, %c21 : index
  %hundred = arith.constant dense<100> : tensor<5x21xi32>
  %Y = tile.view %y : memref<?x?xi32> to !tile.view<5x21xi32>
  %r = tile.iota dim 0 from %r0 : tensor<5x21xindex>
  %q = tile.iota dim 1 from %q0 : tensor<5x21xindex>
  %ri = arith.index_cast %r : tensor<5x21xindex> to tensor<5x21xi32>
  %qi = arith.index_cast %q : tensor<5x21xindex> to tensor<5x21xi32>
  %t = arith.muli %ri, %hundred : tensor<5x21xi32>
  %s = arith.addi %t, %qi : tensor<5x21xi32>
  tile.store %s, %Y[%i, %j] : tensor<5x21xi32>, !tile.view<5x21xi32>
  tile.return
}
