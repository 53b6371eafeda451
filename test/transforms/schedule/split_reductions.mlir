// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-construct-tiles{chip=sm_80},tile-split-reductions{chip=sm_80}))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-construct-tiles{chip=sm_80},tile-split-reductions{chip=sm_80}),tile-group-ops{ops=elementwise},func.func(canonicalize,cse),tile-group-ops{chip=sm_80},convert-linalg-to-tile{chip=sm_80})' | FileCheck %s --check-prefix=TILE

// One tile's worth of output and a long sum: parts of k side by side, then their sum, in f32 and in one order.
// CHECK-LABEL: func.func @long
// CHECK-DAG: tensor.expand_shape %arg0 {{\[}}[0], [1, 2]] output_shape [64, 32, 256] : tensor<64x8192xf16> into tensor<64x32x256xf16>
// CHECK-DAG: tensor.expand_shape %arg1 {{\[}}[0, 1], [2]] output_shape [32, 256, 64] : tensor<8192x64xf16> into tensor<32x256x64xf16>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]} {{.*}} outs({{.*}} : tensor<32x64x64xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins({{.*}} : tensor<32x64x64xf32>) outs({{.*}} : tensor<64x64xf32>)
// CHECK: arith.addf
// The elementwise op that follows becomes the sum's epilogue: two kernels.
// TILE-LABEL: func.func @long
// TILE-COUNT-2: tile.launch
// TILE-NOT: tile.launch
// TILE-NOT: linalg
// TILE: tile.kernel private
func.func @long(%a: tensor<64x8192xf16>, %b: tensor<8192x64xf16>, %bias: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x8192xf16>, tensor<8192x64xf16>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.add ins(%c, %bias : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Enough programs; a k that nothing divides; sizes that are not known; sums that would be rounded to f16.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: expand_shape
func.func @wide(%a: tensor<2048x2048xf16>, %b: tensor<2048x2048xf16>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<2048x2048xf16>, tensor<2048x2048xf16>) outs(%c : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %r : tensor<2048x2048xf32>
}
// CHECK-LABEL: func.func @prime
// CHECK-NOT: expand_shape
func.func @prime(%a: tensor<64x8191xf16>, %b: tensor<8191x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x8191xf16>, tensor<8191x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: expand_shape
func.func @unknown(%a: tensor<64x?xf16>, %b: tensor<?x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x?xf16>, tensor<?x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: expand_shape
func.func @narrow(%a: tensor<64x8192xf16>, %b: tensor<8192x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<64x8192xf16>, tensor<8192x64xf16>) outs(%c : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %r : tensor<64x64xf16>
}

// -----

// A person's word: so many parts, whatever the model says, tiles for one part at a time. C starts from what it was.
// CHECK: #[[schedule:.*]] = #tile.schedule<kind = "product", block = [1, 1, 64, 64, 32], warps = [2, 2, 1], stages = 2,
// CHECK-LABEL: func.func @told
// CHECK: tensor.expand_shape {{.*}} output_shape [4, 256, 4, 128]
// CHECK: linalg.generic {{.*}}tile.schedule = #[[schedule]]
// CHECK: linalg.generic {{.*}} outs(%arg2 : tensor<4x256x256xf32>)
#maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
func.func @told(%a: tensor<4x256x512xf16>, %b: tensor<4x512x256xf16>, %c: tensor<4x256x256xf32>) -> tensor<4x256x256xf32> {
  %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x256x512xf16>, tensor<4x512x256xf16>) outs(%c : tensor<4x256x256xf32>)
      attrs = {tile.schedule = #tile.schedule<block = [1, 64, 64, 32], warps = [2, 2, 1], stages = 2, split = 4>} {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x256x256xf32>
  return %r : tensor<4x256x256xf32>
}

// -----

#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
func.func @thirds(%a: tensor<64x512xf32>, %b: tensor<512x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{'linalg.generic' op schedule: `split` is 3; it must be a divisor of k, which is 512}}
  %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x512xf32>, tensor<512x64xf32>) outs(%c : tensor<64x64xf32>)
      attrs = {tile.schedule = #tile.schedule<split = 3>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %2 = arith.mulf %x, %y : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
