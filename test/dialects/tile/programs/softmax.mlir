// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   softmax over the last axis, four rows per program, rows of at most 4096.
// Level:  tile kernel.
// Shows:  padding by the neutral element (-inf) makes the mask disappear: exp(-inf - m) = 0 adds nothing to the sum;
//         reduce and broadcast name the same axis, so no dimensions of size 1 are ever made.
// Note:   a row of only padding (last program) gives nan and is masked by the store.

tile.kernel @softmax(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x?xf32> to !tile.view<4x4096xf32, pad = neg_inf>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<4x4096xf32>
  %v = tile.load %X[%i, %c0] : !tile.view<4x4096xf32, pad = neg_inf> -> tensor<4x4096xf32>
  %m = tile.reduce {arith.maximumf} %v axes [1] : tensor<4x4096xf32> -> tensor<4xf32>
  %mb = tile.broadcast %m axes [1] : tensor<4xf32> -> tensor<4x4096xf32>
  %d = arith.subf %v, %mb : tensor<4x4096xf32>
  %e = math.exp %d : tensor<4x4096xf32>
  %s = tile.reduce {arith.addf} %e axes [1] : tensor<4x4096xf32> -> tensor<4xf32>
  %sb = tile.broadcast %s axes [1] : tensor<4xf32> -> tensor<4x4096xf32>
  %r = arith.divf %e, %sb : tensor<4x4096xf32>
  tile.store %r, %Y[%i, %c0] : tensor<4x4096xf32>, !tile.view<4x4096xf32>
  tile.return
}

// CHECK: pad = neg_inf
// CHECK: tile.reduce {arith.maximumf} %{{.*}} axes [1] : tensor<4x4096xf32> -> tensor<4xf32>
// CHECK: tile.broadcast %{{.*}} axes [1] : tensor<4xf32> -> tensor<4x4096xf32>
