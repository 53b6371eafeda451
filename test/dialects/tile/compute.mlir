// Compute: every op in every optional form keeps its meaning in its pretty, generic and bytecode form.
// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// CHECK-LABEL: tile.func @products
tile.func @products(%a: tensor<32x16xf16>, %b: tensor<16x8xf16>, %c: tensor<32x8xf32>, %p: tensor<32x16xf32>,
                    %q: tensor<16x8xf32>, %ab: tensor<2x32x16xf16>, %bb: tensor<2x16x8xf16>, %cb: tensor<2x32x8xf32>) {
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} : tensor<32x16xf16>, tensor<16x8xf16> -> tensor<32x8xf32>
  %0 = tile.mma %a, %b, %c : tensor<32x16xf16>, tensor<16x8xf16> -> tensor<32x8xf32>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} precision tf32x3 : tensor<32x16xf32>, tensor<16x8xf32> -> tensor<32x8xf32>
  %1 = tile.mma %p, %q, %c precision tf32x3 : tensor<32x16xf32>, tensor<16x8xf32> -> tensor<32x8xf32>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} {here} : tensor<2x32x16xf16>, tensor<2x16x8xf16> -> tensor<2x32x8xf32>
  %2 = tile.mma %ab, %bb, %cb {here} : tensor<2x32x16xf16>, tensor<2x16x8xf16> -> tensor<2x32x8xf32>
  tile.return
}

// CHECK-LABEL: tile.func @sparse
tile.func @sparse(%a: tensor<16x8xi8>, %p: tensor<16x2xi8>, %b: tensor<16x4xi8>, %c: tensor<16x4xi32>) {
  // CHECK: tile.mma_sparse %{{.*}} at %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x8xi8>, tensor<16x2xi8>, tensor<16x4xi8> -> tensor<16x4xi32>
  %0 = tile.mma_sparse %a at %p, %b, %c : tensor<16x8xi8>, tensor<16x2xi8>, tensor<16x4xi8> -> tensor<16x4xi32>
  tile.return
}

// CHECK-LABEL: tile.func @scaled
tile.func @scaled(%a: tensor<128x64xf8E4M3FN>, %sa: tensor<128x2xf8E8M0FNU>, %b: tensor<64x128xf8E4M3FN>,
                  %sb: tensor<2x128xf8E8M0FNU>, %c: tensor<128x128xf32>) {
  // CHECK: tile.mma_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} block 32 : tensor<128x64xf8E4M3FN>, tensor<128x2xf8E8M0FNU>, tensor<64x128xf8E4M3FN>, tensor<2x128xf8E8M0FNU> -> tensor<128x128xf32>
  %0 = tile.mma_scaled %a scale %sa, %b scale %sb, %c block 32
      : tensor<128x64xf8E4M3FN>, tensor<128x2xf8E8M0FNU>, tensor<64x128xf8E4M3FN>, tensor<2x128xf8E8M0FNU> -> tensor<128x128xf32>
  tile.return
}

// CHECK-LABEL: tile.func @reductions
tile.func @reductions(%x: tensor<4x8xf32>, %at: tensor<4x8xi32>) {
  // CHECK: tile.reduce {arith.addf} %{{.*}} axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  %0 = tile.reduce {arith.addf} %x axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: tile.reduce {arith.maximumf} %{{.*}} axes [0, 1] : tensor<4x8xf32> -> f32
  %1 = tile.reduce {arith.maximumf} %x axes [0, 1] : tensor<4x8xf32> -> f32
  // CHECK: tile.reduce {arith.addi} %{{.*}} axes [0] neutral [0 : i32] {note} : tensor<4x8xi32> -> tensor<8xi32>
  %2 = tile.reduce {arith.addi} %at axes [0] neutral [0 : i32] {note} : tensor<4x8xi32> -> tensor<8xi32>
  // CHECK: %{{.*}}:2 = tile.reduce %{{.*}}, %{{.*}} axes [1] neutral [0xFF800000 : f32, 0 : i32] : tensor<4x8xf32>, tensor<4x8xi32> -> tensor<4xf32>, tensor<4xi32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
  %3:2 = tile.reduce %x, %at axes [1] neutral [0xFF800000 : f32, 0 : i32]
      : tensor<4x8xf32>, tensor<4x8xi32> -> tensor<4xf32>, tensor<4xi32> {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %gt = arith.cmpf oge, %a, %b : f32
    %r = arith.select %gt, %a, %b : f32
    %ri = arith.select %gt, %ai, %bi : i32
    // CHECK: tile.yield %{{.*}}, %{{.*}} : f32, i32
    tile.yield %r, %ri : f32, i32
  }
  tile.return
}

// CHECK-LABEL: tile.func @scans
tile.func @scans(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %y: tensor<16xf32>, %s: f32) {
  // CHECK: tile.scan {arith.addf} %{{.*}} axis 1 : tensor<4x8xf32>
  %0 = tile.scan {arith.addf} %x axis 1 : tensor<4x8xf32>
  // CHECK: %{{.*}}:2 = tile.scan {arith.addf} %{{.*}} init %{{.*}} axis 1 : tensor<4x8xf32>, tensor<4xf32>
  %1:2 = tile.scan {arith.addf} %x init %c axis 1 : tensor<4x8xf32>, tensor<4xf32>
  // CHECK: tile.scan {arith.mulf} %{{.*}} axis 0 reverse exclusive : tensor<16xf32>
  %2 = tile.scan {arith.mulf} %y axis 0 reverse exclusive : tensor<16xf32>
  // CHECK: %{{.*}}:2 = tile.scan {arith.maximumf} %{{.*}} init %{{.*}} axis 0 reverse {here} : tensor<16xf32>, f32
  %3:2 = tile.scan {arith.maximumf} %y init %s axis 0 reverse {here} : tensor<16xf32>, f32
  // CHECK: %{{.*}}:4 = tile.scan %{{.*}}, %{{.*}} init %{{.*}}, %{{.*}} axis 0 exclusive neutral [1.000000e+00 : f32, 0.000000e+00 : f32] : tensor<16xf32>, tensor<16xf32>, f32, f32 {
  %4:4 = tile.scan %y, %y init %s, %s axis 0 exclusive neutral [1.0 : f32, 0.0 : f32]
      : tensor<16xf32>, tensor<16xf32>, f32, f32 {
  ^bb0(%a: f32, %b: f32, %a2: f32, %b2: f32):
    %m = arith.mulf %a, %a2 : f32
    %n = arith.mulf %b, %a2 : f32
    %k = arith.addf %n, %b2 : f32
    tile.yield %m, %k : f32, f32
  }
  tile.return
}

// CHECK-LABEL: tile.func @orders
tile.func @orders(%k: tensor<8x64xf32>, %v: tensor<8x64xi32>, %w: tensor<4096xi32>, %in: tensor<4096xi1>) {
  // CHECK: tile.sort %{{.*}} axis 0 : tensor<8x64xf32>
  %0 = tile.sort %k axis 0 : tensor<8x64xf32>
  // CHECK: %{{.*}}:2 = tile.sort %{{.*}}, %{{.*}} axis 1 descending : tensor<8x64xf32>, tensor<8x64xi32>
  %1:2 = tile.sort %k, %v axis 1 descending : tensor<8x64xf32>, tensor<8x64xi32>
  // CHECK: tile.topk %{{.*}} axis 1 : tensor<8x64xf32> -> tensor<8x5xf32>
  %2 = tile.topk %k axis 1 : tensor<8x64xf32> -> tensor<8x5xf32>
  // CHECK: %{{.*}}:2 = tile.topk %{{.*}}, %{{.*}} axis 1 descending : tensor<8x64xf32>, tensor<8x64xi32> -> tensor<8x8xf32>, tensor<8x8xi32>
  %3:2 = tile.topk %k, %v axis 1 descending : tensor<8x64xf32>, tensor<8x64xi32> -> tensor<8x8xf32>, tensor<8x8xi32>
  // CHECK: tile.histogram %{{.*}} : tensor<4096xi32> -> tensor<256xi32>
  %4 = tile.histogram %w : tensor<4096xi32> -> tensor<256xi32>
  // CHECK: tile.histogram %{{.*}} mask %{{.*}} : tensor<4096xi32> -> tensor<256xi32>
  %5 = tile.histogram %w mask %in : tensor<4096xi32> -> tensor<256xi32>
  tile.return
}

// CHECK-LABEL: tile.func @conversions
tile.func @conversions(%seed: i64, %n: tensor<64xindex>, %x: tensor<64xf32>, %bits: tensor<64xi32>, %s: f32, %word: i32) {
  // CHECK: tile.random %{{.*}}, %{{.*}} : i64, tensor<64xindex> -> tensor<64x4xi32>
  %0 = tile.random %seed, %n : i64, tensor<64xindex> -> tensor<64x4xi32>
  // CHECK: tile.convert_type %{{.*}} saturate : tensor<64xf32> -> tensor<64xf8E4M3FN>
  %1 = tile.convert_type %x saturate : tensor<64xf32> -> tensor<64xf8E4M3FN>
  // CHECK: tile.convert_type %{{.*}} saturate rounding stochastic %{{.*}} : tensor<64xf32> -> tensor<64xf8E5M2>
  %2 = tile.convert_type %x saturate rounding stochastic %bits : tensor<64xf32> -> tensor<64xf8E5M2>
  // CHECK: tile.convert_type %{{.*}} rounding stochastic %{{.*}} : f32 -> bf16
  %3 = tile.convert_type %s rounding stochastic %word : f32 -> bf16
  // CHECK: tile.convert_type %{{.*}} saturate rounding toward_zero : tensor<64xf32> -> tensor<64xf8E4M3FN>
  %4 = tile.convert_type %x saturate rounding toward_zero : tensor<64xf32> -> tensor<64xf8E4M3FN>
  tile.return
}
