// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   C = A · W with W pruned 3:32 in vectors of 32 columns (nmSPARSE): what sparse.spmm becomes after its encoding is expanded.
// Level:  tile kernel.
// Shows:  the components are plain memrefs: value [kept, n], row [kept, n/32] (row of W of each kept vector, ascending);
//         the gather is on A's columns: a tile index in one dimension, element numbers in the other; the product is dense.
// Note:   the padding of %row's last tile is 0, a valid row; the padded values are zero, so it adds nothing.

tile.kernel @spmm_nm_vector32(%a: memref<?x?xf16>, %value: memref<?x?xf16>, %row: memref<?x?xi32>, %c: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x48xf16>
  %V = tile.view %value : memref<?x?xf16> to !tile.view<48x32xf16>
  %R = tile.view %row[_, %j] : memref<?x?xi32> to !tile.view<48xi32>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x32xf16>
  %n = tile.num_tiles %R dim 0 : !tile.view<48xi32>
  %acc = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<128x32xf32>) {
    %r = tile.load %R[%k] : !tile.view<48xi32> -> tensor<48xi32>
    %x = tile.gather %A[%i, %r] bounds(clamp) : !tile.view<128x48xf16>[index, tensor<48xi32>] -> tensor<128x48xf16>
    %w = tile.load %V[%k, %j] : !tile.view<48x32xf16> -> tensor<48x32xf16>
    %t = tile.mma %x, %w, %s : tensor<128x48xf16>, tensor<48x32xf16> -> tensor<128x32xf32>
    scf.yield %t : tensor<128x32xf32>
  }
  %o = arith.truncf %acc : tensor<128x32xf32> to tensor<128x32xf16>
  tile.store %o, %C[%i, %j] : tensor<128x32xf16>, !tile.view<128x32xf16>
  tile.return
}

// CHECK: bounds(clamp) : !tile.view<128x48xf16>[index, tensor<48xi32>] -> tensor<128x48xf16>
