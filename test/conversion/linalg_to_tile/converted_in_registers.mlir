// Products of several rows by codes, for a GPU: a program converts its columns' weights in registers.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(convert-linalg-to-tile{chip=sm_80},canonicalize,cse)' | FileCheck %s
#x = affine_map<(m, n, g, t, k) -> (m, g, t, k)>
#codes = affine_map<(m, n, g, t, k) -> (n, g, k)>
#shift = affine_map<(m, n, g, t, k) -> (t)>
#scale = affine_map<(m, n, g, t, k) -> (n, g)>
#out = affine_map<(m, n, g, t, k) -> (m, n)>

// The byte is loaded once for its two codes; factors of f16 are multiplied before they are widened; sums are f32's.
// CHECK-LABEL: tile.kernel private @converted_product
// CHECK-DAG: %[[FOUR:.*]] = arith.constant dense<4> : tensor<32x32xi8>
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1 iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<16x32xf32>)
// CHECK: %[[X0:.*]] = tile.load {{.*}} -> tensor<16x32xf16>
// CHECK: %[[BYTES:.*]] = tile.load {{.*}} -> tensor<32x32xi8>
// CHECK: %[[SCALES:.*]] = tile.load {{.*}} -> tensor<32xf16>
// CHECK: arith.andi %[[BYTES]]
// CHECK: %[[W0:.*]] = tile.transpose {{.*}} : tensor<32x32xf16> -> tensor<32x32xf16>
// CHECK: %[[HALF:.*]] = tile.mma %[[X0]], %[[W0]], %[[SUM]] : tensor<16x32xf16>, tensor<32x32xf16> -> tensor<16x32xf32>
// CHECK: %[[X1:.*]] = tile.load {{.*}} -> tensor<16x32xf16>
// CHECK-NOT: tile.load
// CHECK: arith.shrui %[[BYTES]], %[[FOUR]]
// CHECK: %[[W1:.*]] = tile.transpose
// CHECK: tile.mma %[[X1]], %[[W1]], %[[HALF]]
func.func @nibbles(%x: tensor<7x4x2x32xf16>, %p: tensor<32x4x32xi8>, %s: tensor<32x4xf16>) -> tensor<7x32xf32> {
  %shifts = arith.constant dense<[0, 4]> : tensor<2xi8>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<7x32xf32>) -> tensor<7x32xf32>
  %y = linalg.generic {indexing_maps = [#x, #codes, #shift, #scale, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %p, %shifts, %s : tensor<7x4x2x32xf16>, tensor<32x4x32xi8>, tensor<2xi8>, tensor<32x4xf16>) outs(%z : tensor<7x32xf32>) {
  ^bb0(%a: f16, %b: i8, %h: i8, %r: f16, %o: f32):
    %mask = arith.constant 15 : i8
    %moved = arith.shrui %b, %h : i8
    %code = arith.andi %moved, %mask : i8
    %number = arith.uitofp %code : i8 to f16
    %w = arith.mulf %number, %r : f16
    %wide = arith.extf %w : f16 to f32
    %row = arith.extf %a : f16 to f32
    %product = arith.mulf %row, %wide : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  } -> tensor<7x32xf32>
  return %y : tensor<7x32xf32>
}

// One row is a sum; three bytes in a group leave no step of k.
// CHECK-LABEL: tile.kernel private @{{.*}}(%arg0: memref<7x4x3xf16>
// CHECK-NOT: tile.mma
#x1 = affine_map<(m, n, g, k) -> (m, g, k)>
#codes1 = affine_map<(m, n, g, k) -> (n, g, k)>
#scale1 = affine_map<(m, n, g, k) -> (n, g)>
#out1 = affine_map<(m, n, g, k) -> (m, n)>
func.func @threes(%x: tensor<7x4x3xf16>, %p: tensor<32x4x3xi8>, %s: tensor<32x4xf16>) -> tensor<7x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<7x32xf32>) -> tensor<7x32xf32>
  %y = linalg.generic {indexing_maps = [#x1, #codes1, #scale1, #out1], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %p, %s : tensor<7x4x3xf16>, tensor<32x4x3xi8>, tensor<32x4xf16>) outs(%z : tensor<7x32xf32>) {
  ^bb0(%a: f16, %b: i8, %r: f16, %o: f32):
    %number = arith.sitofp %b : i8 to f16
    %w = arith.mulf %number, %r : f16
    %wide = arith.extf %w : f16 to f32
    %row = arith.extf %a : f16 to f32
    %product = arith.mulf %row, %wide : f32
    %sum = arith.addf %o, %product : f32
    linalg.yield %sum : f32
  } -> tensor<7x32xf32>
  return %y : tensor<7x32xf32>
}
