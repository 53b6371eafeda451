// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   layer normalization with saved statistics: y, and (mean, 1/std) per row for the backward pass.
// Level:  tile kernel.
// Shows:  several results; one reduce with two operands and a region (Welford's merge needs three, same form);
//         tile.in_bounds, the mask of a view's tile, where no padding value is neutral: here (x - mean)^2 of padding is not 0.
// Note:   %n stays dynamic; 1/n is computed from the memref's size, the tile (2048) only bounds it.

tile.kernel @layernorm(%x: memref<?x?xf16>, %gamma: memref<?xf32>, %beta: memref<?xf32>, %eps: f32,
                       %y: memref<?x?xf16>, %stats: memref<?x2xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<2048xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf16>
  %ni = arith.index_cast %n : index to i32
  %nf = arith.sitofp %ni : i32 to f32
  %X = tile.view %x[%i, _] : memref<?x?xf16> to !tile.view<2048xf16>
  %Y = tile.view %y[%i, _] : memref<?x?xf16> to !tile.view<2048xf16>
  %G = tile.view %gamma : memref<?xf32> to !tile.view<2048xf32>
  %B = tile.view %beta : memref<?xf32> to !tile.view<2048xf32>

  %v16 = tile.load %X[%c0] : !tile.view<2048xf16> -> tensor<2048xf16>
  %v = arith.extf %v16 : tensor<2048xf16> to tensor<2048xf32>
  %sum = tile.reduce {arith.addf} %v axes [0] : tensor<2048xf32> -> f32
  %mean = arith.divf %sum, %nf : f32
  %mb = tile.broadcast %mean : f32 -> tensor<2048xf32>
  %d = arith.subf %v, %mb : tensor<2048xf32>
  %in = tile.in_bounds %X[%c0] : !tile.view<2048xf16> -> tensor<2048xi1>
  %dm = arith.select %in, %d, %zero : tensor<2048xi1>, tensor<2048xf32>
  %d2 = arith.mulf %dm, %dm : tensor<2048xf32>
  %ss = tile.reduce {arith.addf} %d2 axes [0] : tensor<2048xf32> -> f32
  %var = arith.divf %ss, %nf : f32
  %ve = arith.addf %var, %eps : f32
  %rstd = math.rsqrt %ve : f32

  %rb = tile.broadcast %rstd : f32 -> tensor<2048xf32>
  %g = tile.load %G[%c0] : !tile.view<2048xf32> -> tensor<2048xf32>
  %b = tile.load %B[%c0] : !tile.view<2048xf32> -> tensor<2048xf32>
  %h = arith.mulf %d, %rb : tensor<2048xf32>
  %hg = arith.mulf %h, %g : tensor<2048xf32>
  %o = arith.addf %hg, %b : tensor<2048xf32>
  %o16 = arith.truncf %o : tensor<2048xf32> to tensor<2048xf16>
  tile.store %o16, %Y[%c0] : tensor<2048xf16>, !tile.view<2048xf16>
  memref.store %mean, %stats[%i, %c0] : memref<?x2xf32>
  memref.store %rstd, %stats[%i, %c1] : memref<?x2xf32>
  tile.return
}

// The same statistics in one pass: a reduce over (count, mean, M2) by Chan's merge. Regions take two tuples, left then right.
// A device function (tile.func, called by tile.call, inlined before layouts): func.func is the host's.
tile.func private @welford(%n: tensor<2048xf32>, %mu: tensor<2048xf32>, %m2: tensor<2048xf32>) -> (f32, f32, f32) {
  %r:3 = tile.reduce %n, %mu, %m2 axes [0] neutral [0.0 : f32, 0.0 : f32, 0.0 : f32]
      : tensor<2048xf32>, tensor<2048xf32>, tensor<2048xf32> -> f32, f32, f32 {
  ^bb0(%na: f32, %ma: f32, %sa: f32, %nb: f32, %mb: f32, %sb: f32):
    %n2 = arith.addf %na, %nb : f32
    %one = arith.constant 1.0 : f32
    %safe = arith.maximumf %n2, %one : f32
    %delta = arith.subf %mb, %ma : f32
    %w = arith.divf %nb, %safe : f32
    %dw = arith.mulf %delta, %w : f32
    %mu2 = arith.addf %ma, %dw : f32
    %s = arith.addf %sa, %sb : f32
    %t = arith.mulf %delta, %dw : f32
    %u = arith.mulf %t, %na : f32
    %s2 = arith.addf %s, %u : f32
    tile.yield %n2, %mu2, %s2 : f32, f32, f32
  }
  tile.return %r#0, %r#1, %r#2 : f32, f32, f32
}

// CHECK: tile.in_bounds %{{.*}}[%{{.*}}] : !tile.view<2048xf16> -> tensor<2048xi1>
// CHECK: tile.reduce {arith.addf} %{{.*}} axes [0] : tensor<2048xf32> -> f32
// CHECK: tile.func private @welford(
// CHECK: -> (f32, f32, f32)
// CHECK: tile.reduce %{{.*}}, %{{.*}}, %{{.*}} axes [0] neutral [0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32]
// CHECK: tile.yield %{{.*}}, %{{.*}}, %{{.*}} : f32, f32, f32
// CHECK: tile.return %{{.*}}#0, %{{.*}}#1, %{{.*}}#2 : f32, f32, f32
