// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   dropout: y = x · keep / (1 - p), keep drawn from Philox; the same seed and element give the same bit on every target.
// Level:  tile kernel.
// Shows:  a counter-based generator is a pure function of (seed, counter): it can be recomputed in the backward pass, hoisted, CSE'd;
//         the decision is an unsigned compare of raw bits, no float in between. One counter yields four words; here all four are used.
// Host:   %threshold = p · 2^32.

tile.kernel @dropout(%x: memref<?xf32>, %seed: i64, %threshold: i32, %inverse: f32, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<256x4xf32>
  %X = tile.view %x : memref<?xf32> to !tile.view<1024xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<1024xf32>
  %v = tile.load %X[%i] : !tile.view<1024xf32> -> tensor<1024xf32>
  %v4 = tile.reshape %v : tensor<1024xf32> -> tensor<256x4xf32>
  %base = arith.muli %i, %c256 : index
  %counter = tile.iota dim 0 from %base : tensor<256xindex>
  %bits = tile.random %seed, %counter : i64, tensor<256xindex> -> tensor<256x4xi32>
  %t = tile.broadcast %threshold : i32 -> tensor<256x4xi32>
  %keep = arith.cmpi uge, %bits, %t : tensor<256x4xi32>
  %inv = tile.broadcast %inverse : f32 -> tensor<256x4xf32>
  %scaled = arith.mulf %v4, %inv : tensor<256x4xf32>
  %d = arith.select %keep, %scaled, %zero : tensor<256x4xi1>, tensor<256x4xf32>
  %r = tile.reshape %d : tensor<256x4xf32> -> tensor<1024xf32>
  tile.store %r, %Y[%i] : tensor<1024xf32>, !tile.view<1024xf32>
  tile.return
}

// CHECK: tile.random %{{.*}}, %{{.*}} : i64, tensor<256xindex> -> tensor<256x4xi32>
