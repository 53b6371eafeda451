// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   embedding lookup, and its backward pass (scatter-add of gradients, duplicates allowed).
// Level:  tile kernel.
// Shows:  gather and scatter on a view: a dimension is indexed either by a tile index (scalar) or by element numbers (a tile);
//         the untouched dimension stays contiguous, so rows become wide loads, cp.async or TMA gather4;
//         bounds(drop): an index outside the table (padding token -1) reads the padding value and writes nothing.

tile.kernel @lookup(%table: memref<?x?xf16>, %token: memref<?xi32>, %out: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %T = tile.view %table : memref<?x?xf16> to !tile.view<64x128xf16>
  %I = tile.view %token : memref<?xi32> to !tile.view<64xi32>
  %O = tile.view %out : memref<?x?xf16> to !tile.view<64x128xf16>
  %row = tile.load %I[%i] : !tile.view<64xi32> -> tensor<64xi32>
  %e = tile.gather %T[%row, %j] bounds(drop) : !tile.view<64x128xf16>[tensor<64xi32>, index] -> tensor<64x128xf16>
  tile.store %e, %O[%i, %j] : tensor<64x128xf16>, !tile.view<64x128xf16>
  tile.return
}

tile.kernel @lookup_backward(%grad: memref<?x?xf16>, %token: memref<?xi32>, %table_grad: memref<?x?xf32>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %G = tile.view %grad : memref<?x?xf16> to !tile.view<64x128xf16>
  %I = tile.view %token : memref<?xi32> to !tile.view<64xi32>
  %T = tile.view %table_grad : memref<?x?xf32> to !tile.view<64x128xf32>
  %row = tile.load %I[%i] : !tile.view<64xi32> -> tensor<64xi32>
  %in = tile.in_bounds %I[%i] : !tile.view<64xi32> -> tensor<64xi1>
  %m = tile.broadcast %in axes [1] : tensor<64xi1> -> tensor<64x128xi1>
  %g16 = tile.load %G[%i, %j] : !tile.view<64x128xf16> -> tensor<64x128xf16>
  %g = arith.extf %g16 : tensor<64x128xf16> to tensor<64x128xf32>
  tile.scatter %g, %T[%row, %j] mask %m combine(add) bounds(drop)
      : tensor<64x128xf32>, !tile.view<64x128xf32>[tensor<64xi32>, index]
  tile.return
}

// The general form: one index tile per memref dimension, element by element (also what a TTIR pointer tile becomes).
tile.kernel @permute(%x: memref<?xf32>, %at: memref<?xi32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %I = tile.view %at : memref<?xi32> to !tile.view<1024xi32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<1024xf32>
  %k = tile.load %I[%i] : !tile.view<1024xi32> -> tensor<1024xi32>
  %v = tile.gather %x[%k] bounds(trap) : memref<?xf32>[tensor<1024xi32>] -> tensor<1024xf32>
  tile.store %v, %Y[%i] : tensor<1024xf32>, !tile.view<1024xf32>
  tile.return
}

// CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] bounds(drop) : !tile.view<64x128xf16>[tensor<64xi32>, index] -> tensor<64x128xf16>
// CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] mask %{{.*}} combine(add) bounds(drop) : tensor<64x128xf32>, !tile.view<64x128xf32>[tensor<64xi32>, index]
// CHECK: tile.gather %{{.*}}[%{{.*}}] bounds(trap) : memref<?xf32>[tensor<1024xi32>] -> tensor<1024xf32>
