// Tiles of odd sizes: what spread.py counts.

tile.kernel @softmax_1000(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x?xf32> to !tile.view<4x1000xf32, pad = neg_inf>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<4x1000xf32>
  %v = tile.load %X[%i, %c0] : !tile.view<4x1000xf32, pad = neg_inf> -> tensor<4x1000xf32>
  %m = tile.reduce {arith.maximumf} %v axes [1] : tensor<4x1000xf32> -> tensor<4xf32>
  %mb = tile.broadcast %m axes [1] : tensor<4xf32> -> tensor<4x1000xf32>
  %d = arith.subf %v, %mb : tensor<4x1000xf32>
  %e = math.exp %d : tensor<4x1000xf32>
  %s = tile.reduce {arith.addf} %e axes [1] : tensor<4x1000xf32> -> tensor<4xf32>
  %sb = tile.broadcast %s axes [1] : tensor<4xf32> -> tensor<4x1000xf32>
  %r = arith.divf %e, %sb : tensor<4x1000xf32>
  tile.store %r, %Y[%i, %c0] : tensor<4x1000xf32>, !tile.view<4x1000xf32>
  tile.return
}

tile.kernel @layernorm_777(%x: memref<?x777xf32>, %gamma: memref<777xf32>, %beta: memref<777xf32>,
                           %y: memref<?x777xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %n = arith.constant dense<777.0> : tensor<32xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<32xf32>
  %X = tile.view %x : memref<?x777xf32> to !tile.view<32x777xf32>
  %Y = tile.view %y : memref<?x777xf32> to !tile.view<32x777xf32>
  %G = tile.view %gamma : memref<777xf32> to !tile.view<777xf32>
  %B = tile.view %beta : memref<777xf32> to !tile.view<777xf32>
  %v = tile.load %X[%i, %c0] : !tile.view<32x777xf32> -> tensor<32x777xf32>
  %sum = tile.reduce {arith.addf} %v axes [1] : tensor<32x777xf32> -> tensor<32xf32>
  %mean = arith.divf %sum, %n : tensor<32xf32>
  %mb = tile.broadcast %mean axes [1] : tensor<32xf32> -> tensor<32x777xf32>
  %d = arith.subf %v, %mb : tensor<32x777xf32>
  %d2 = arith.mulf %d, %d : tensor<32x777xf32>
  %ss = tile.reduce {arith.addf} %d2 axes [1] : tensor<32x777xf32> -> tensor<32xf32>
  %var = arith.divf %ss, %n : tensor<32xf32>
  %ve = arith.addf %var, %eps : tensor<32xf32>
  %rstd = math.rsqrt %ve : tensor<32xf32>
  %rb = tile.broadcast %rstd axes [1] : tensor<32xf32> -> tensor<32x777xf32>
  %g = tile.load %G[%c0] : !tile.view<777xf32> -> tensor<777xf32>
  %b = tile.load %B[%c0] : !tile.view<777xf32> -> tensor<777xf32>
  %gb = tile.broadcast %g axes [0] : tensor<777xf32> -> tensor<32x777xf32>
  %bb = tile.broadcast %b axes [0] : tensor<777xf32> -> tensor<32x777xf32>
  %h = arith.mulf %d, %rb : tensor<32x777xf32>
  %hg = arith.mulf %h, %gb : tensor<32x777xf32>
  %o = arith.addf %hg, %bb : tensor<32x777xf32>
  tile.store %o, %Y[%i, %c0] : tensor<32x777xf32>, !tile.view<32x777xf32>
  tile.return
}

tile.kernel @transpose_83(%x: memref<83x37xf32>, %y: memref<37x83xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<83x37xf32> to !tile.view<83x37xf32>
  %Y = tile.view %y : memref<37x83xf32> to !tile.view<37x83xf32>
  %v = tile.load %X[%c0, %c0] : !tile.view<83x37xf32> -> tensor<83x37xf32>
  %t = tile.transpose %v [1, 0] : tensor<83x37xf32> -> tensor<37x83xf32>
  tile.store %t, %Y[%c0, %c0] : tensor<37x83xf32>, !tile.view<37x83xf32>
  tile.return
}

tile.kernel @permute_61(%x: memref<9x20x61xf32>, %y: memref<61x9x20xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<9x20x61xf32> to !tile.view<9x20x61xf32>
  %Y = tile.view %y : memref<61x9x20xf32> to !tile.view<61x9x20xf32>
  %v = tile.load %X[%c0, %c0, %c0] : !tile.view<9x20x61xf32> -> tensor<9x20x61xf32>
  %t = tile.transpose %v [2, 0, 1] : tensor<9x20x61xf32> -> tensor<61x9x20xf32>
  tile.store %t, %Y[%c0, %c0, %c0] : tensor<61x9x20xf32>, !tile.view<61x9x20xf32>
  tile.return
}

tile.kernel @scan_333(%x: memref<?x333xf32>, %y: memref<?x333xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x333xf32> to !tile.view<1x333xf32>
  %Y = tile.view %y : memref<?x333xf32> to !tile.view<1x333xf32>
  %v = tile.load %X[%i, %c0] : !tile.view<1x333xf32> -> tensor<1x333xf32>
  %s = tile.scan {arith.addf} %v axis 1 : tensor<1x333xf32>
  tile.store %s, %Y[%i, %c0] : tensor<1x333xf32>, !tile.view<1x333xf32>
  tile.return
}

// What lies beyond the tile is 0, divides nothing and fails no assertion.
tile.kernel @remainders_45(%x: memref<?x?xi32>, %y: memref<?x?xi32>, %z: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<5x45xi32>
  %X = tile.view %x : memref<?x?xi32> to !tile.view<5x45xi32>
  %Y = tile.view %y : memref<?x?xi32> to !tile.view<5x45xi32>
  %Z = tile.view %z : memref<?x?xi32> to !tile.view<5x45xi32>
  %v = tile.load %X[%c0, %c0] : !tile.view<5x45xi32> -> tensor<5x45xi32>
  %w = tile.load %Y[%c0, %c0] : !tile.view<5x45xi32> -> tensor<5x45xi32>
  %some = arith.cmpi ne, %w, %zero : tensor<5x45xi32>
  tile.assert %some, "a divisor is 0" : tensor<5x45xi1>
  %r = arith.remsi %v, %w : tensor<5x45xi32>
  tile.store %r, %Z[%c0, %c0] : tensor<5x45xi32>, !tile.view<5x45xi32>
  tile.return
}
