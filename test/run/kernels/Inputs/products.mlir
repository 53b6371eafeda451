// Products: registers and memory as accumulator, edges in every dimension, packing, batches, other types; loops that
// carry tiles.

// 7 x 20 of the result in registers: neither a multiple of a vector nor of the unrolling.
tile.kernel @gemm_small(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<7x20xf32>
  %A = tile.view %a : memref<?x?xf32> to !tile.view<7x9xf32>
  %B = tile.view %b : memref<?x?xf32> to !tile.view<9x20xf32>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<7x20xf32>
  %nk = tile.num_tiles %A dim 1 : !tile.view<7x9xf32>
  %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %zero) -> (tensor<7x20xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<7x9xf32> -> tensor<7x9xf32>
    %w = tile.load %B[%k, %j] : !tile.view<9x20xf32> -> tensor<9x20xf32>
    %t = tile.mma %x, %w, %s : tensor<7x9xf32>, tensor<9x20xf32> -> tensor<7x20xf32>
    scf.yield %t : tensor<7x20xf32>
  }
  tile.store %acc, %C[%i, %j] : tensor<7x20xf32>, !tile.view<7x20xf32>
  tile.return
}

// Static sizes: nothing is masked where the tiles are known inside. C += A B.
tile.kernel @gemm_static(%a: memref<24x40xf64>, %b: memref<40x32xf64>, %c: memref<24x32xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %A = tile.view %a : memref<24x40xf64> to !tile.view<8x40xf64>
  %B = tile.view %b : memref<40x32xf64> to !tile.view<40x32xf64>
  %C = tile.view %c : memref<24x32xf64> to !tile.view<8x32xf64>
  %w = tile.load %B[%c0, %c0] : !tile.view<40x32xf64> -> tensor<40x32xf64>
  scf.for %i = %c0 to %c3 step %c1 {
    %x = tile.load %A[%i, %c0] : !tile.view<8x40xf64> -> tensor<8x40xf64>
    %s = tile.load %C[%i, %c0] : !tile.view<8x32xf64> -> tensor<8x32xf64>
    %t = tile.mma %x, %w, %s : tensor<8x40xf64>, tensor<40x32xf64> -> tensor<8x32xf64>
    tile.store %t, %C[%i, %c0] : tensor<8x32xf64>, !tile.view<8x32xf64>
  }
  tile.return
}

// Batches of i8 products summed in i32.
tile.kernel @batched_i8(%a: memref<?x?x?xi8>, %b: memref<?x?x?xi8>, %c: memref<?x?x?xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<3x10x33xi32>
  %A = tile.view %a : memref<?x?x?xi8> to !tile.view<3x10x12xi8>
  %B = tile.view %b : memref<?x?x?xi8> to !tile.view<3x12x33xi8>
  %C = tile.view %c : memref<?x?x?xi32> to !tile.view<3x10x33xi32>
  %x = tile.load %A[%c0, %c0, %c0] : !tile.view<3x10x12xi8> -> tensor<3x10x12xi8>
  %w = tile.load %B[%c0, %c0, %c0] : !tile.view<3x12x33xi8> -> tensor<3x12x33xi8>
  %t = tile.mma %x, %w, %zero : tensor<3x10x12xi8>, tensor<3x12x33xi8> -> tensor<3x10x33xi32>
  tile.store %t, %C[%c0, %c0, %c0] : tensor<3x10x33xi32>, !tile.view<3x10x33xi32>
  tile.return
}

// x W^k, the power decided by a while loop, and the sum of all row maxima on the way: a large tile and a small one.
tile.kernel @power(%x: memref<?x?xf32>, %w: memref<?x?xf32>, %k: index, %y: memref<?x?xf32>, %z: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<24x48xf32>
  %none = arith.constant dense<0.0> : tensor<24xf32>
  %X = tile.view %x : memref<?x?xf32> to !tile.view<24x48xf32>
  %W = tile.view %w : memref<?x?xf32> to !tile.view<48x48xf32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<24x48xf32>
  %Z = tile.view %z : memref<?xf32> to !tile.view<24xf32>
  %x0 = tile.load %X[%c0, %c0] : !tile.view<24x48xf32> -> tensor<24x48xf32>
  %r:3 = scf.while (%i = %c0, %v = %x0, %s = %none) : (index, tensor<24x48xf32>, tensor<24xf32>)
      -> (index, tensor<24x48xf32>, tensor<24xf32>) {
    %more = arith.cmpi ult, %i, %k : index
    scf.condition(%more) %i, %v, %s : index, tensor<24x48xf32>, tensor<24xf32>
  } do {
  ^bb0(%i: index, %v: tensor<24x48xf32>, %s: tensor<24xf32>):
    %m = tile.load %W[%c0, %c0] : !tile.view<48x48xf32> -> tensor<48x48xf32>
    %p = tile.mma %v, %m, %zero : tensor<24x48xf32>, tensor<48x48xf32> -> tensor<24x48xf32>
    %q = tile.reduce {arith.maximumf} %v axes [1] : tensor<24x48xf32> -> tensor<24xf32>
    %t = arith.addf %s, %q : tensor<24xf32>
    %n = arith.addi %i, %c1 : index
    scf.yield %n, %p, %t : index, tensor<24x48xf32>, tensor<24xf32>
  }
  tile.store %r#1, %Y[%c0, %c0] : tensor<24x48xf32>, !tile.view<24x48xf32>
  tile.store %r#2, %Z[%c0] : tensor<24xf32>, !tile.view<24xf32>
  tile.return
}

// Two large tiles that change places in every step.
tile.kernel @fibonacci(%x: memref<?x?xf32>, %k: index, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant dense<1.0> : tensor<40x48xf32>
  %X = tile.view %x : memref<?x?xf32> to !tile.view<40x48xf32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<40x48xf32>
  %x0 = tile.load %X[%c0, %c0] : !tile.view<40x48xf32> -> tensor<40x48xf32>
  %r:2 = scf.for %i = %c0 to %k step %c1 iter_args(%a = %x0, %b = %one) -> (tensor<40x48xf32>, tensor<40x48xf32>) {
    %s = arith.addf %a, %b : tensor<40x48xf32>
    scf.yield %b, %s : tensor<40x48xf32>, tensor<40x48xf32>
  }
  tile.store %r#0, %Y[%c0, %c0] : tensor<40x48xf32>, !tile.view<40x48xf32>
  tile.return
}

// A large tile that is transposed into itself by the loop.
tile.kernel @turn(%x: memref<?x?xf32>, %k: index, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %X = tile.view %x : memref<?x?xf32> to !tile.view<48x48xf32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<48x48xf32>
  %x0 = tile.load %X[%c0, %c0] : !tile.view<48x48xf32> -> tensor<48x48xf32>
  %r = scf.for %i = %c0 to %k step %c1 iter_args(%a = %x0) -> (tensor<48x48xf32>) {
    %t = tile.transpose %a [1, 0] : tensor<48x48xf32> -> tensor<48x48xf32>
    scf.yield %t : tensor<48x48xf32>
  }
  tile.store %r, %Y[%c0, %c0] : tensor<48x48xf32>, !tile.view<48x48xf32>
  tile.return
}

// A ring of two slots: each step multiplies what the step before packed, columns first.
tile.kernel @ring(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<6x16xf32>
  %P = tile.alloc : !tile.buffer<16x16xf32, #tile.layout<offset [4:d0, 16:d1, 4:d0*4]>, local, stages = 2>
  %A = tile.view %a : memref<?x?xf32> to !tile.view<6x16xf32>
  %B = tile.view %b : memref<?x?xf32> to !tile.view<16x16xf32>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<6x16xf32>
  %n = tile.num_tiles %A dim 1 : !tile.view<6x16xf32>
  %p0 = tile.slot %P[%c0] : !tile.buffer<16x16xf32, #tile.layout<offset [4:d0, 16:d1, 4:d0*4]>, local, stages = 2>
  tile.copy %B[%c0, %c0] to %p0 : !tile.view<16x16xf32> to !tile.buffer<16x16xf32, #tile.layout<offset [4:d0, 16:d1, 4:d0*4]>, local>
  %acc = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<6x16xf32>) {
    %next = arith.addi %k, %c1 : index
    %pn = tile.slot %P[%next] : !tile.buffer<16x16xf32, #tile.layout<offset [4:d0, 16:d1, 4:d0*4]>, local, stages = 2>
    tile.copy %B[%next, %c0] to %pn : !tile.view<16x16xf32> to !tile.buffer<16x16xf32, #tile.layout<offset [4:d0, 16:d1, 4:d0*4]>, local>
    %pk = tile.slot %P[%k] : !tile.buffer<16x16xf32, #tile.layout<offset [4:d0, 16:d1, 4:d0*4]>, local, stages = 2>
    %x = tile.load %A[%c0, %k] : !tile.view<6x16xf32> -> tensor<6x16xf32>
    %w = tile.load %pk : !tile.buffer<16x16xf32, #tile.layout<offset [4:d0, 16:d1, 4:d0*4]>, local> -> tensor<16x16xf32>
    %t = tile.mma %x, %w, %s : tensor<6x16xf32>, tensor<16x16xf32> -> tensor<6x16xf32>
    scf.yield %t : tensor<6x16xf32>
  }
  tile.store %acc, %C[%c0, %c0] : tensor<6x16xf32>, !tile.view<6x16xf32>
  tile.return
}
