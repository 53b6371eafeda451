// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   256-bin histogram of bytes.
// Level:  tile kernel.
// Shows:  private counts per program (tile.histogram), one combining scatter into memory at the end;
//         a reduction into memory that nobody reads back is scatter/store with `combine`, not atomic_rmw.
// Note:   the mask keeps the padding of the last tile out of bin 0.

tile.kernel @histogram(%x: memref<?xi8>, %bins: memref<256xi32>) {
  %p = tile.program_id 0
  %np = tile.num_programs 0
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<256xi32>
  %X = tile.view %x : memref<?xi8> to !tile.view<4096xi8>
  %B = tile.view %bins : memref<256xi32> to !tile.view<256xi32>
  %n = tile.num_tiles %X dim 0 : !tile.view<4096xi8>
  %counts = scf.for %i = %p to %n step %np iter_args(%h = %zero) -> (tensor<256xi32>) {
    %v = tile.load %X[%i] : !tile.view<4096xi8> -> tensor<4096xi8>
    %w = arith.extui %v : tensor<4096xi8> to tensor<4096xi32>
    %in = tile.in_bounds %X[%i] : !tile.view<4096xi8> -> tensor<4096xi1>
    %c = tile.histogram %w mask %in : tensor<4096xi32> -> tensor<256xi32>
    %s = arith.addi %h, %c : tensor<256xi32>
    scf.yield %s : tensor<256xi32>
  }
  tile.store %counts, %B[%c0] combine(add) : tensor<256xi32>, !tile.view<256xi32>
  tile.return
}

// CHECK: tile.histogram %{{.*}} mask %{{.*}} : tensor<4096xi32> -> tensor<256xi32>
// CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}] combine(add) : tensor<256xi32>, !tile.view<256xi32>
