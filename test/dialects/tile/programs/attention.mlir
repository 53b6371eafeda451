// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   attention forward, causal, online softmax; Q, K, V, O are [batch, head, sequence, 128], also the log-sum-exp for backward.
// Level:  tile kernel.
// Shows:  `%q[%b, %h, _, _]` fixes leading dimensions (no reshape of 1x1x… tiles); order = [1, 0] reads K transposed;
//         two-dimensional iota; loop-carried tiles (o, max, sum); blocks right of the diagonal are never visited.
// Math:   base 2: s = q·k·scale·log2(e); p = exp2(s - m). %scale_log2e comes from the host.

tile.kernel @attention(%q: memref<?x?x?x128xf16>, %k: memref<?x?x?x128xf16>, %v: memref<?x?x?x128xf16>, %scale_log2e: f32,
                       %o: memref<?x?x?x128xf16>, %lse: memref<?x?x?xf32>) {
  %i = tile.program_id 0
  %h = tile.program_id 1
  %b = tile.program_id 2
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %o0 = arith.constant dense<0.0> : tensor<128x128xf32>
  %s0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %m0 = arith.constant dense<-1.0e+30> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %minus = arith.constant dense<-1.0e+30> : tensor<128x64xf32>

  %Q = tile.view %q[%b, %h, _, _] : memref<?x?x?x128xf16> to !tile.view<128x128xf16>
  %K = tile.view %k[%b, %h, _, _] : memref<?x?x?x128xf16> to !tile.view<128x64xf16, order = [1, 0]>
  %V = tile.view %v[%b, %h, _, _] : memref<?x?x?x128xf16> to !tile.view<64x128xf16>
  %O = tile.view %o[%b, %h, _, _] : memref<?x?x?x128xf16> to !tile.view<128x128xf16>
  %L = tile.view %lse[%b, %h, _] : memref<?x?x?xf32> to !tile.view<128xf32>

  %x = tile.load %Q[%i, %c0] : !tile.view<128x128xf16> -> tensor<128x128xf16>
  %row0 = arith.muli %i, %c128 : index
  %row = tile.iota dim 0 from %row0 : tensor<128x64xindex>
  %scale = tile.broadcast %scale_log2e : f32 -> tensor<128x64xf32>
  %end = arith.addi %row0, %c128 : index
  %blocks = arith.ceildivui %end, %c64 : index
  %kept = tile.num_tiles %V dim 0 : !tile.view<64x128xf16>
  %last = arith.minui %blocks, %kept : index

  %r:3 = scf.for %j = %c0 to %last step %c1 iter_args(%acc = %o0, %m = %m0, %l = %l0)
      -> (tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) {
    %kt = tile.load %K[%c0, %j] : !tile.view<128x64xf16, order = [1, 0]> -> tensor<128x64xf16>
    %qk = tile.mma %x, %kt, %s0 : tensor<128x128xf16>, tensor<128x64xf16> -> tensor<128x64xf32>
    %sc = arith.mulf %qk, %scale : tensor<128x64xf32>
    %col0 = arith.muli %j, %c64 : index
    %col = tile.iota dim 1 from %col0 : tensor<128x64xindex>
    %past = arith.cmpi ule, %col, %row : tensor<128x64xindex>
    %s = arith.select %past, %sc, %minus : tensor<128x64xi1>, tensor<128x64xf32>

    %mx = tile.reduce {arith.maximumf} %s axes [1] : tensor<128x64xf32> -> tensor<128xf32>
    %m1 = arith.maximumf %m, %mx : tensor<128xf32>
    %mb = tile.broadcast %m1 axes [1] : tensor<128xf32> -> tensor<128x64xf32>
    %sd = arith.subf %s, %mb : tensor<128x64xf32>
    %p = math.exp2 %sd : tensor<128x64xf32>
    %md = arith.subf %m, %m1 : tensor<128xf32>
    %alpha = math.exp2 %md : tensor<128xf32>
    %ps = tile.reduce {arith.addf} %p axes [1] : tensor<128x64xf32> -> tensor<128xf32>
    %la = arith.mulf %l, %alpha : tensor<128xf32>
    %l1 = arith.addf %la, %ps : tensor<128xf32>

    %ab = tile.broadcast %alpha axes [1] : tensor<128xf32> -> tensor<128x128xf32>
    %oa = arith.mulf %acc, %ab : tensor<128x128xf32>
    %ph = arith.truncf %p : tensor<128x64xf32> to tensor<128x64xf16>
    %vt = tile.load %V[%j, %c0] : !tile.view<64x128xf16> -> tensor<64x128xf16>
    %o1 = tile.mma %ph, %vt, %oa : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %o1, %m1, %l1 : tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
  }

  %lb = tile.broadcast %r#2 axes [1] : tensor<128xf32> -> tensor<128x128xf32>
  %on = arith.divf %r#0, %lb : tensor<128x128xf32>
  %oh = arith.truncf %on : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %oh, %O[%i, %c0] : tensor<128x128xf16>, !tile.view<128x128xf16>
  %lg = math.log2 %r#2 : tensor<128xf32>
  %ls = arith.addf %r#1, %lg : tensor<128xf32>
  tile.store %ls, %L[%i] : tensor<128xf32>, !tile.view<128xf32>
  tile.return
}

// CHECK: tile.kernel @attention(
// CHECK: tile.view %{{.*}}[%{{.*}}, %{{.*}}, _, _] : memref<?x?x?x128xf16> to
// CHECK: order = [1, 0]
// CHECK: tile.iota dim 0 from %{{.*}} : tensor<128x64xindex>
// CHECK: tile.reduce {arith.maximumf} %{{.*}} axes [1] : tensor<128x64xf32> -> tensor<128xf32>
