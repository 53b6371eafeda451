// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   the 8 largest of each row with their positions (expert routing, sampling), rows longer than a tile.
// Level:  tile kernel.
// Shows:  tile.topk carries payload tiles along with the key (first operand); order of nan and of ties is numerics.md's, ties by position;
//         a long row is folded: keep 8, append the next tile, keep 8 of the 8 + 1016.
// Note:   tile sizes need not be powers of two (1016), so the concatenation is exactly 1024.

tile.kernel @topk(%x: memref<?x?xf32>, %value: memref<?x8xf32>, %position: memref<?x8xi32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1016 = arith.constant 1016 : index
  %v0 = arith.constant dense<0xFF800000> : tensor<8xf32>
  %p0 = arith.constant dense<-1> : tensor<8xi32>
  %X = tile.view %x[%i, _] : memref<?x?xf32> to !tile.view<1016xf32, pad = neg_inf>
  %V = tile.view %value[%i, _] : memref<?x8xf32> to !tile.view<8xf32>
  %P = tile.view %position[%i, _] : memref<?x8xi32> to !tile.view<8xi32>
  %n = tile.num_tiles %X dim 0 : !tile.view<1016xf32, pad = neg_inf>
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%bv = %v0, %bp = %p0) -> (tensor<8xf32>, tensor<8xi32>) {
    %v = tile.load %X[%j] : !tile.view<1016xf32, pad = neg_inf> -> tensor<1016xf32>
    %s = arith.muli %j, %c1016 : index
    %at = tile.iota dim 0 from %s : tensor<1016xindex>
    %p = arith.index_cast %at : tensor<1016xindex> to tensor<1016xi32>
    %cv = tile.cat %bv, %v axis 0 : tensor<8xf32>, tensor<1016xf32> -> tensor<1024xf32>
    %cp = tile.cat %bp, %p axis 0 : tensor<8xi32>, tensor<1016xi32> -> tensor<1024xi32>
    %tv, %tp = tile.topk %cv, %cp axis 0 descending : tensor<1024xf32>, tensor<1024xi32> -> tensor<8xf32>, tensor<8xi32>
    scf.yield %tv, %tp : tensor<8xf32>, tensor<8xi32>
  }
  tile.store %r#0, %V[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.store %r#1, %P[%c0] : tensor<8xi32>, !tile.view<8xi32>
  tile.return
}

// CHECK: tile.cat %{{.*}}, %{{.*}} axis 0 : tensor<8xf32>, tensor<1016xf32> -> tensor<1024xf32>
// CHECK: tile.topk %{{.*}}, %{{.*}} axis 0 descending : tensor<1024xf32>, tensor<1024xi32> -> tensor<8xf32>, tensor<8xi32>
