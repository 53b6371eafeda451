// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-find-low-bit{chip=sm_80 remarks=true},canonicalize))' --split-input-file 2>&1 | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-find-low-bit,canonicalize))' --split-input-file 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-find-low-bit{chip=sm_80}),convert-linalg-to-tile{chip=sm_80})' --split-input-file 2>&1 | FileCheck %s --check-prefix=KERNEL

#code = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#scale = affine_map<(d0, d1, d2) -> (d0, d1)>

// Both factors are read as codes: one sum over blocks and what is in them. A CPU converts one factor first.
// CHECK: remark: {{.*}}reads 4224 bytes of codes, scales and zeros in place of 16384 bytes of weights
// CHECK: remark: {{.*}}reads 2112 bytes of codes, scales and zeros in place of 8192 bytes of weights
// CHECK-LABEL: func @powers
// CHECK-SAME: (%[[A:.*]]: tensor<16x4x32xf8E5M2>, %[[S:.*]]: tensor<16x4xf8E8M0FNU>, %[[B:.*]]: tensor<32x4x32xf8E4M3FN>, %[[T:.*]]: tensor<32x4xf8E8M0FNU>)
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "reduction", "reduction"]} ins(%[[B]], %[[T]], %[[A]], %[[S]]
// CHECK-NOT: linalg.generic
// CHECK: return
// CPU-LABEL: func @powers
// CPU-COUNT-2: linalg.generic
// KERNEL: tile.kernel private @scaled_product_0
// KERNEL: tile.mma_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} block 32 : tensor<16x128xf8E5M2>, tensor<16x4xf8E8M0FNU>, tensor<128x32xf8E4M3FN>, tensor<4x32xf8E8M0FNU>
func.func @powers(%a: tensor<16x4x32xf8E5M2>, %s: tensor<16x4xf8E8M0FNU>, %b: tensor<32x4x32xf8E4M3FN>, %t: tensor<32x4xf8E8M0FNU>) -> tensor<16x32xf32> {
  %e = tensor.empty() : tensor<16x4x32xf32>
  %d = linalg.generic {indexing_maps = [#code, #scale, #code], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %s : tensor<16x4x32xf8E5M2>, tensor<16x4xf8E8M0FNU>) outs(%e : tensor<16x4x32xf32>) {
  ^bb0(%c: f8E5M2, %r: f8E8M0FNU, %o: f32):
    %code = arith.extf %c : f8E5M2 to f32
    %ratio = arith.extf %r : f8E8M0FNU to f32
    %p = arith.mulf %code, %ratio : f32
    linalg.yield %p : f32
  } -> tensor<16x4x32xf32>
  %x = tensor.collapse_shape %d [[0], [1, 2]] : tensor<16x4x32xf32> into tensor<16x128xf32>
  %f = tensor.empty() : tensor<32x4x32xf32>
  %g = linalg.generic {indexing_maps = [#code, #scale, #code], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b, %t : tensor<32x4x32xf8E4M3FN>, tensor<32x4xf8E8M0FNU>) outs(%f : tensor<32x4x32xf32>) {
  ^bb0(%c: f8E4M3FN, %r: f8E8M0FNU, %o: f32):
    %code = arith.extf %c : f8E4M3FN to f32
    %ratio = arith.extf %r : f8E8M0FNU to f32
    %p = arith.mulf %ratio, %code : f32
    linalg.yield %p : f32
  } -> tensor<32x4x32xf32>
  %w = tensor.collapse_shape %g [[0], [1, 2]] : tensor<32x4x32xf32> into tensor<32x128xf32>
  %z = arith.constant dense<0.0> : tensor<16x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<16x128xf32>, tensor<32x128xf32>) outs(%z : tensor<16x32xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  return %y : tensor<16x32xf32>
}

// -----

#code = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#scale = affine_map<(d0, d1, d2) -> (d0, d1)>

// Scales of f8E4M3FN have digits, and sums of products of 8 bits are rounded: such scales stay within the sum.
// CHECK-LABEL: func @digits
// CHECK-COUNT-2: linalg.generic
// KERNEL-LABEL: @digits
// KERNEL-NOT: mma_scaled
func.func @digits(%a: tensor<16x4x32xf8E5M2>, %s: tensor<16x4xf8E4M3FN>, %b: tensor<32x4x32xf8E4M3FN>, %t: tensor<32x4xf8E8M0FNU>) -> tensor<16x32xf32> {
  %e = tensor.empty() : tensor<16x4x32xf32>
  %d = linalg.generic {indexing_maps = [#code, #scale, #code], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %s : tensor<16x4x32xf8E5M2>, tensor<16x4xf8E4M3FN>) outs(%e : tensor<16x4x32xf32>) {
  ^bb0(%c: f8E5M2, %r: f8E4M3FN, %o: f32):
    %code = arith.extf %c : f8E5M2 to f32
    %ratio = arith.extf %r : f8E4M3FN to f32
    %p = arith.mulf %code, %ratio : f32
    linalg.yield %p : f32
  } -> tensor<16x4x32xf32>
  %x = tensor.collapse_shape %d [[0], [1, 2]] : tensor<16x4x32xf32> into tensor<16x128xf32>
  %f = tensor.empty() : tensor<32x4x32xf32>
  %g = linalg.generic {indexing_maps = [#code, #scale, #code], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b, %t : tensor<32x4x32xf8E4M3FN>, tensor<32x4xf8E8M0FNU>) outs(%f : tensor<32x4x32xf32>) {
  ^bb0(%c: f8E4M3FN, %r: f8E8M0FNU, %o: f32):
    %code = arith.extf %c : f8E4M3FN to f32
    %ratio = arith.extf %r : f8E8M0FNU to f32
    %p = arith.mulf %ratio, %code : f32
    linalg.yield %p : f32
  } -> tensor<32x4x32xf32>
  %w = tensor.collapse_shape %g [[0], [1, 2]] : tensor<32x4x32xf32> into tensor<32x128xf32>
  %z = arith.constant dense<0.0> : tensor<16x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<16x128xf32>, tensor<32x128xf32>) outs(%z : tensor<16x32xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  return %y : tensor<16x32xf32>
}
