// Narrow floats: block-scaled products, packed views, conversions in every direction.

#pairs_of_columns = #tile.layout<offset [2:d1]>
#pairs_of_rows = #tile.layout<offset [2:d0]>

// OCP's MXFP8, two formats; MXFP6 with an element per byte; NVFP4 with two per byte.
tile.kernel @mxfp8(%a: memref<?x?xf8E4M3FN>, %sa: memref<?x?xf8E8M0FNU>, %b: memref<?x?xf8E5M2>, %sb: memref<?x?xf8E8M0FNU>,
                 %c: memref<?x?xf32>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = tile.view %a : memref<?x?xf8E4M3FN> to !tile.view<5x64xf8E4M3FN>
  %SA = tile.view %sa : memref<?x?xf8E8M0FNU> to !tile.view<5x2xf8E8M0FNU>
  %B = tile.view %b : memref<?x?xf8E5M2> to !tile.view<64x20xf8E5M2>
  %SB = tile.view %sb : memref<?x?xf8E8M0FNU> to !tile.view<2x20xf8E8M0FNU>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<5x20xf32>
  %nk = tile.num_tiles %A dim 1 : !tile.view<5x64xf8E4M3FN>
  %c_in = tile.load %C[%i, %j] : !tile.view<5x20xf32> -> tensor<5x20xf32>
  %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %c_in) -> (tensor<5x20xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<5x64xf8E4M3FN> -> tensor<5x64xf8E4M3FN>
    %sx = tile.load %SA[%i, %k] : !tile.view<5x2xf8E8M0FNU> -> tensor<5x2xf8E8M0FNU>
    %w = tile.load %B[%k, %j] : !tile.view<64x20xf8E5M2> -> tensor<64x20xf8E5M2>
    %sw = tile.load %SB[%k, %j] : !tile.view<2x20xf8E8M0FNU> -> tensor<2x20xf8E8M0FNU>
    %t = tile.mma_scaled %x scale %sx, %w scale %sw, %s block 32
        : tensor<5x64xf8E4M3FN>, tensor<5x2xf8E8M0FNU>, tensor<64x20xf8E5M2>, tensor<2x20xf8E8M0FNU> -> tensor<5x20xf32>
    scf.yield %t : tensor<5x20xf32>
  }
  tile.store %acc, %C[%i, %j] : tensor<5x20xf32>, !tile.view<5x20xf32>
  tile.return
}

tile.kernel @mxfp6(%a: memref<?x?xf6E2M3FN>, %sa: memref<?x?xf8E8M0FNU>, %b: memref<?x?xf6E3M2FN>, %sb: memref<?x?xf8E8M0FNU>,
                 %c: memref<?x?xf32>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = tile.view %a : memref<?x?xf6E2M3FN> to !tile.view<5x32xf6E2M3FN>
  %SA = tile.view %sa : memref<?x?xf8E8M0FNU> to !tile.view<5x1xf8E8M0FNU>
  %B = tile.view %b : memref<?x?xf6E3M2FN> to !tile.view<32x20xf6E3M2FN>
  %SB = tile.view %sb : memref<?x?xf8E8M0FNU> to !tile.view<1x20xf8E8M0FNU>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<5x20xf32>
  %nk = tile.num_tiles %A dim 1 : !tile.view<5x32xf6E2M3FN>
  %c_in = tile.load %C[%i, %j] : !tile.view<5x20xf32> -> tensor<5x20xf32>
  %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %c_in) -> (tensor<5x20xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<5x32xf6E2M3FN> -> tensor<5x32xf6E2M3FN>
    %sx = tile.load %SA[%i, %k] : !tile.view<5x1xf8E8M0FNU> -> tensor<5x1xf8E8M0FNU>
    %w = tile.load %B[%k, %j] : !tile.view<32x20xf6E3M2FN> -> tensor<32x20xf6E3M2FN>
    %sw = tile.load %SB[%k, %j] : !tile.view<1x20xf8E8M0FNU> -> tensor<1x20xf8E8M0FNU>
    %t = tile.mma_scaled %x scale %sx, %w scale %sw, %s block 32
        : tensor<5x32xf6E2M3FN>, tensor<5x1xf8E8M0FNU>, tensor<32x20xf6E3M2FN>, tensor<1x20xf8E8M0FNU> -> tensor<5x20xf32>
    scf.yield %t : tensor<5x20xf32>
  }
  tile.store %acc, %C[%i, %j] : tensor<5x20xf32>, !tile.view<5x20xf32>
  tile.return
}

tile.kernel @nvfp4(%a: memref<?x?xi8>, %sa: memref<?x?xf8E4M3FN>, %b: memref<?x?xi8>, %sb: memref<?x?xf8E4M3FN>,
                 %c: memref<?x?xf32>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = tile.view %a : memref<?x?xi8> to !tile.view<5x32xf4E2M1FN, packed = #pairs_of_columns>
  %SA = tile.view %sa : memref<?x?xf8E4M3FN> to !tile.view<5x2xf8E4M3FN>
  %B = tile.view %b : memref<?x?xi8> to !tile.view<32x20xf4E2M1FN, packed = #pairs_of_rows>
  %SB = tile.view %sb : memref<?x?xf8E4M3FN> to !tile.view<2x20xf8E4M3FN>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<5x20xf32>
  %nk = tile.num_tiles %A dim 1 : !tile.view<5x32xf4E2M1FN, packed = #pairs_of_columns>
  %c_in = tile.load %C[%i, %j] : !tile.view<5x20xf32> -> tensor<5x20xf32>
  %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %c_in) -> (tensor<5x20xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<5x32xf4E2M1FN, packed = #pairs_of_columns> -> tensor<5x32xf4E2M1FN>
    %sx = tile.load %SA[%i, %k] : !tile.view<5x2xf8E4M3FN> -> tensor<5x2xf8E4M3FN>
    %w = tile.load %B[%k, %j] : !tile.view<32x20xf4E2M1FN, packed = #pairs_of_rows> -> tensor<32x20xf4E2M1FN>
    %sw = tile.load %SB[%k, %j] : !tile.view<2x20xf8E4M3FN> -> tensor<2x20xf8E4M3FN>
    %t = tile.mma_scaled %x scale %sx, %w scale %sw, %s block 16
        : tensor<5x32xf4E2M1FN>, tensor<5x2xf8E4M3FN>, tensor<32x20xf4E2M1FN>, tensor<2x20xf8E4M3FN> -> tensor<5x20xf32>
    scf.yield %t : tensor<5x20xf32>
  }
  tile.store %acc, %C[%i, %j] : tensor<5x20xf32>, !tile.view<5x20xf32>
  tile.return
}

tile.kernel @saturate_f8E4M3FN(%x: memref<?xf32>, %y: memref<?xf8E4M3FN>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xf8E4M3FN> to !tile.view<19xf8E4M3FN>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %w = tile.convert_type %v saturate : tensor<19xf32> -> tensor<19xf8E4M3FN>
  tile.store %w, %Y[%i] : tensor<19xf8E4M3FN>, !tile.view<19xf8E4M3FN>
  tile.return
}

tile.kernel @down_f8E4M3FN(%x: memref<?xf32>, %y: memref<?xf8E4M3FN>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xf8E4M3FN> to !tile.view<19xf8E4M3FN>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %w = tile.convert_type %v saturate rounding down : tensor<19xf32> -> tensor<19xf8E4M3FN>
  tile.store %w, %Y[%i] : tensor<19xf8E4M3FN>, !tile.view<19xf8E4M3FN>
  tile.return
}

tile.kernel @stochastic_f8E4M3FN(%x: memref<?xf32>, %bits: memref<?xi32>, %y: memref<?xf8E4M3FN>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xf8E4M3FN> to !tile.view<19xf8E4M3FN>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %R = tile.view %bits : memref<?xi32> to !tile.view<19xi32>
  %r = tile.load %R[%i] : !tile.view<19xi32> -> tensor<19xi32>
  %w = tile.convert_type %v rounding stochastic %r : tensor<19xf32> -> tensor<19xf8E4M3FN>
  tile.store %w, %Y[%i] : tensor<19xf8E4M3FN>, !tile.view<19xf8E4M3FN>
  tile.return
}

tile.kernel @saturate_f8E5M2(%x: memref<?xf32>, %y: memref<?xf8E5M2>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xf8E5M2> to !tile.view<19xf8E5M2>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %w = tile.convert_type %v saturate : tensor<19xf32> -> tensor<19xf8E5M2>
  tile.store %w, %Y[%i] : tensor<19xf8E5M2>, !tile.view<19xf8E5M2>
  tile.return
}

tile.kernel @down_f8E5M2(%x: memref<?xf32>, %y: memref<?xf8E5M2>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xf8E5M2> to !tile.view<19xf8E5M2>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %w = tile.convert_type %v saturate rounding down : tensor<19xf32> -> tensor<19xf8E5M2>
  tile.store %w, %Y[%i] : tensor<19xf8E5M2>, !tile.view<19xf8E5M2>
  tile.return
}

tile.kernel @stochastic_f8E5M2(%x: memref<?xf32>, %bits: memref<?xi32>, %y: memref<?xf8E5M2>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xf8E5M2> to !tile.view<19xf8E5M2>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %R = tile.view %bits : memref<?xi32> to !tile.view<19xi32>
  %r = tile.load %R[%i] : !tile.view<19xi32> -> tensor<19xi32>
  %w = tile.convert_type %v rounding stochastic %r : tensor<19xf32> -> tensor<19xf8E5M2>
  tile.store %w, %Y[%i] : tensor<19xf8E5M2>, !tile.view<19xf8E5M2>
  tile.return
}

tile.kernel @saturate_f6E3M2FN(%x: memref<?xf32>, %y: memref<?xf6E3M2FN>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xf6E3M2FN> to !tile.view<19xf6E3M2FN>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %w = tile.convert_type %v saturate : tensor<19xf32> -> tensor<19xf6E3M2FN>
  tile.store %w, %Y[%i] : tensor<19xf6E3M2FN>, !tile.view<19xf6E3M2FN>
  tile.return
}

tile.kernel @down_f6E3M2FN(%x: memref<?xf32>, %y: memref<?xf6E3M2FN>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xf6E3M2FN> to !tile.view<19xf6E3M2FN>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %w = tile.convert_type %v saturate rounding down : tensor<19xf32> -> tensor<19xf6E3M2FN>
  tile.store %w, %Y[%i] : tensor<19xf6E3M2FN>, !tile.view<19xf6E3M2FN>
  tile.return
}

tile.kernel @stochastic_f6E3M2FN(%x: memref<?xf32>, %bits: memref<?xi32>, %y: memref<?xf6E3M2FN>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xf6E3M2FN> to !tile.view<19xf6E3M2FN>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %R = tile.view %bits : memref<?xi32> to !tile.view<19xi32>
  %r = tile.load %R[%i] : !tile.view<19xi32> -> tensor<19xi32>
  %w = tile.convert_type %v rounding stochastic %r : tensor<19xf32> -> tensor<19xf6E3M2FN>
  tile.store %w, %Y[%i] : tensor<19xf6E3M2FN>, !tile.view<19xf6E3M2FN>
  tile.return
}

tile.kernel @saturate_f4E2M1FN(%x: memref<?xf32>, %y: memref<?xf4E2M1FN>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xf4E2M1FN> to !tile.view<19xf4E2M1FN>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %w = tile.convert_type %v saturate : tensor<19xf32> -> tensor<19xf4E2M1FN>
  tile.store %w, %Y[%i] : tensor<19xf4E2M1FN>, !tile.view<19xf4E2M1FN>
  tile.return
}

tile.kernel @down_f4E2M1FN(%x: memref<?xf32>, %y: memref<?xf4E2M1FN>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xf4E2M1FN> to !tile.view<19xf4E2M1FN>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %w = tile.convert_type %v saturate rounding down : tensor<19xf32> -> tensor<19xf4E2M1FN>
  tile.store %w, %Y[%i] : tensor<19xf4E2M1FN>, !tile.view<19xf4E2M1FN>
  tile.return
}

tile.kernel @stochastic_f4E2M1FN(%x: memref<?xf32>, %bits: memref<?xi32>, %y: memref<?xf4E2M1FN>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xf4E2M1FN> to !tile.view<19xf4E2M1FN>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %R = tile.view %bits : memref<?xi32> to !tile.view<19xi32>
  %r = tile.load %R[%i] : !tile.view<19xi32> -> tensor<19xi32>
  %w = tile.convert_type %v rounding stochastic %r : tensor<19xf32> -> tensor<19xf4E2M1FN>
  tile.store %w, %Y[%i] : tensor<19xf4E2M1FN>, !tile.view<19xf4E2M1FN>
  tile.return
}

tile.kernel @across(%x: memref<?xf8E5M2>, %y: memref<?xf8E4M3FN>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf8E5M2> to !tile.view<19xf8E5M2>
  %Y = tile.view %y : memref<?xf8E4M3FN> to !tile.view<19xf8E4M3FN>
  %v = tile.load %X[%i] : !tile.view<19xf8E5M2> -> tensor<19xf8E5M2>
  %w = tile.convert_type %v saturate : tensor<19xf8E5M2> -> tensor<19xf8E4M3FN>
  tile.store %w, %Y[%i] : tensor<19xf8E4M3FN>, !tile.view<19xf8E4M3FN>
  tile.return
}

tile.kernel @from_integers(%x: memref<?xi32>, %y: memref<?xf6E2M3FN>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xi32> to !tile.view<19xi32>
  %Y = tile.view %y : memref<?xf6E2M3FN> to !tile.view<19xf6E2M3FN>
  %v = tile.load %X[%i] : !tile.view<19xi32> -> tensor<19xi32>
  %w = tile.convert_type %v saturate : tensor<19xi32> -> tensor<19xf6E2M3FN>
  tile.store %w, %Y[%i] : tensor<19xf6E2M3FN>, !tile.view<19xf6E2M3FN>
  tile.return
}

tile.kernel @to_integers_nearest_even(%x: memref<?xf32>, %y: memref<?xi8>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xi8> to !tile.view<19xi8>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %w = tile.convert_type %v saturate rounding nearest_even : tensor<19xf32> -> tensor<19xi8>
  tile.store %w, %Y[%i] : tensor<19xi8>, !tile.view<19xi8>
  tile.return
}

tile.kernel @to_integers_nearest_away(%x: memref<?xf32>, %y: memref<?xi8>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xi8> to !tile.view<19xi8>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %w = tile.convert_type %v saturate rounding nearest_away : tensor<19xf32> -> tensor<19xi8>
  tile.store %w, %Y[%i] : tensor<19xi8>, !tile.view<19xi8>
  tile.return
}

tile.kernel @to_integers_up(%x: memref<?xf32>, %y: memref<?xi8>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<19xf32>
  %Y = tile.view %y : memref<?xi8> to !tile.view<19xi8>
  %v = tile.load %X[%i] : !tile.view<19xf32> -> tensor<19xf32>
  %w = tile.convert_type %v saturate rounding up : tensor<19xf32> -> tensor<19xi8>
  tile.store %w, %Y[%i] : tensor<19xi8>, !tile.view<19xi8>
  tile.return
}

// Arithmetic on the elements themselves, and their order.
tile.kernel @arithmetic(%x: memref<?xf8E4M3FN>, %y: memref<?xf8E4M3FN>, %sum: memref<?xf8E4M3FN>, %most: memref<1xf8E4M3FN>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?xf8E4M3FN> to !tile.view<19xf8E4M3FN, pad = neg_inf>
  %Y = tile.view %y : memref<?xf8E4M3FN> to !tile.view<19xf8E4M3FN>
  %S = tile.view %sum : memref<?xf8E4M3FN> to !tile.view<19xf8E4M3FN>
  %v = tile.load %X[%i] : !tile.view<19xf8E4M3FN, pad = neg_inf> -> tensor<19xf8E4M3FN>
  %w = tile.load %Y[%i] : !tile.view<19xf8E4M3FN> -> tensor<19xf8E4M3FN>
  %s = arith.mulf %v, %w : tensor<19xf8E4M3FN>
  tile.store %s, %S[%i] : tensor<19xf8E4M3FN>, !tile.view<19xf8E4M3FN>
  %m = tile.reduce {arith.maxnumf} %v axes [0] : tensor<19xf8E4M3FN> -> f8E4M3FN
  memref.store %m, %most[%c0] : memref<1xf8E4M3FN>
  tile.return
}
