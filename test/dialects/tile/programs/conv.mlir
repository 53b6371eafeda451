// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   3x3 convolution, stride 2, padding 1, NHWC, as implicit GEMM: no im2col matrix anywhere.
// Level:  tile kernel.
// Shows:  overlapping views. `steps` is how far the origin moves per tile index (1: the index is an element number, may be -1);
//         `strides` is the distance between neighbours inside the tile (2: the convolution's stride). Edges pad with zero.
// Grid:   (P/8 · Q/16, K/128, N): each program makes 8x16 output pixels x 128 channels, an mma of M = 128.

tile.kernel @conv3x3s2(%x: memref<?x?x?x?xf16>, %w: memref<3x3x?x?xf16>, %y: memref<?x?x?x?xf16>) {
  %pq = tile.program_id 0
  %k = tile.program_id 1
  %n = tile.program_id 2
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %X = tile.view %x[%n, _, _, _] : memref<?x?x?x?xf16>
       to !tile.view<8x16x32xf16, steps = [1, 1, 32], strides = [2, 2, 1]>
  %Y = tile.view %y[%n, _, _, _] : memref<?x?x?x?xf16> to !tile.view<8x16x128xf16>
  %nq = tile.num_tiles %Y dim 1 : !tile.view<8x16x128xf16>
  %nc = tile.num_tiles %X dim 2 : !tile.view<8x16x32xf16, steps = [1, 1, 32], strides = [2, 2, 1]>
  %p = arith.divui %pq, %nq : index
  %q = arith.remui %pq, %nq : index
  %h0 = arith.muli %p, %c16 : index     // first input row  = p · 8 · 2 - 1 + r
  %w0 = arith.muli %q, %c32 : index     // first input column = q · 16 · 2 - 1 + s

  %acc = scf.for %r = %c0 to %c3 step %c1 iter_args(%a0 = %zero) -> (tensor<128x128xf32>) {
    %hr = arith.addi %h0, %r : index
    %h = arith.subi %hr, %c1 : index
    %ar = scf.for %s = %c0 to %c3 step %c1 iter_args(%a1 = %a0) -> (tensor<128x128xf32>) {
      %ws = arith.addi %w0, %s : index
      %v = arith.subi %ws, %c1 : index
      %W = tile.view %w[%r, %s, _, _] : memref<3x3x?x?xf16> to !tile.view<32x128xf16>
      %as = scf.for %c = %c0 to %nc step %c1 iter_args(%a2 = %a1) -> (tensor<128x128xf32>) {
        %px = tile.load %X[%h, %v, %c] : !tile.view<8x16x32xf16, steps = [1, 1, 32], strides = [2, 2, 1]> -> tensor<8x16x32xf16>
        %pm = tile.reshape %px : tensor<8x16x32xf16> -> tensor<128x32xf16>
        %wt = tile.load %W[%c, %k] : !tile.view<32x128xf16> -> tensor<32x128xf16>
        %t = tile.mma %pm, %wt, %a2 : tensor<128x32xf16>, tensor<32x128xf16> -> tensor<128x128xf32>
        scf.yield %t : tensor<128x128xf32>
      }
      scf.yield %as : tensor<128x128xf32>
    }
    scf.yield %ar : tensor<128x128xf32>
  }
  %o = arith.truncf %acc : tensor<128x128xf32> to tensor<128x128xf16>
  %o3 = tile.reshape %o : tensor<128x128xf16> -> tensor<8x16x128xf16>
  tile.store %o3, %Y[%p, %q, %k] : tensor<8x16x128xf16>, !tile.view<8x16x128xf16>
  tile.return
}

// CHECK: !view = !tile.view<8x16x32xf16, steps = [1, 1, 32], strides = [2, 2, 1]>
// CHECK: tile.kernel @conv3x3s2(
// CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : !view -> tensor<8x16x32xf16>
// CHECK: tile.reshape %{{.*}} : tensor<8x16x32xf16> -> tensor<128x32xf16>
