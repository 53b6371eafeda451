// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   grouped GEMM (mixture of experts): G problems of different sizes, addresses in a table, one persistent kernel.
// Level:  tile kernel.
// Shows:  memory made from a loaded address (tile.memref_at: the one way, so load, gather, atomics and TMA all work on it);
//         uniform scalar loads are memref.load; a persistent loop over tiles is scf.while / scf.for, nothing special.
// Table:  per group  [address of A, of B, of C], sizes [m, n, k]; all row major.

tile.kernel @grouped_gemm(%address: memref<?x3xi64>, %size: memref<?x3xindex>) {
  %p = tile.program_id 0
  %np = tile.num_programs 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %groups = memref.dim %address, %c0 : memref<?x3xi64>

  // %first is the number of tiles in the groups before; each program takes tiles p, p + np, p + 2 np, ...
  scf.for %g = %c0 to %groups step %c1 iter_args(%tile = %p, %first = %c0) -> (index, index) {
    %m = memref.load %size[%g, %c0] : memref<?x3xindex>
    %n = memref.load %size[%g, %c1] : memref<?x3xindex>
    %k = memref.load %size[%g, %c2] : memref<?x3xindex>
    %mt = arith.ceildivui %m, %c128 : index
    %nt = arith.ceildivui %n, %c128 : index
    %tiles = arith.muli %mt, %nt : index
    %last = arith.addi %first, %tiles : index
    %pa = memref.load %address[%g, %c0] : memref<?x3xi64>
    %pb = memref.load %address[%g, %c1] : memref<?x3xi64>
    %pc = memref.load %address[%g, %c2] : memref<?x3xi64>
    %a = tile.memref_at %pa sizes [%m, %k] : i64 to memref<?x?xf16>
    %b = tile.memref_at %pb sizes [%k, %n] : i64 to memref<?x?xf16>
    %c = tile.memref_at %pc sizes [%m, %n] : i64 to memref<?x?xf16>
    %A = tile.view %a : memref<?x?xf16> to !tile.view<128x64xf16>
    %B = tile.view %b : memref<?x?xf16> to !tile.view<64x128xf16>
    %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
    %nk = tile.num_tiles %A dim 1 : !tile.view<128x64xf16>

    %next = scf.while (%t = %tile) : (index) -> index {
      %more = arith.cmpi ult, %t, %last : index
      scf.condition(%more) %t : index
    } do {
    ^bb0(%t: index):
      %l = arith.subi %t, %first : index
      %i = arith.divui %l, %nt : index
      %j = arith.remui %l, %nt : index
      %acc = scf.for %kk = %c0 to %nk step %c1 iter_args(%s = %zero) -> (tensor<128x128xf32>) {
        %x = tile.load %A[%i, %kk] : !tile.view<128x64xf16> -> tensor<128x64xf16>
        %w = tile.load %B[%kk, %j] : !tile.view<64x128xf16> -> tensor<64x128xf16>
        %r = tile.mma %x, %w, %s : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
        scf.yield %r : tensor<128x128xf32>
      }
      %o = arith.truncf %acc : tensor<128x128xf32> to tensor<128x128xf16>
      tile.store %o, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
      %u = arith.addi %t, %np : index
      scf.yield %u : index
    }
    scf.yield %next, %last : index, index
  }
  tile.return
}

// CHECK: tile.num_programs 0
// CHECK: tile.memref_at %{{.*}} sizes [%{{.*}}, %{{.*}}] : i64 to memref<?x?xf16>
