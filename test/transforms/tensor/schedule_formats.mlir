// Where a product converts its weights: one row sums in registers, some rows share a buffer, many rows of a GPU multiply
// weights that were converted once. `codes` is added for constants of two codes in a byte and more.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-schedule-formats{chip=x86-64-v4}))' | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-schedule-formats{chip=sm_80}))' | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-schedule-formats{chip=sm_80 remarks=true}))' 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-schedule-formats{chip=sm_80},tile-find-low-bit{chip=sm_80},canonicalize,cse))' | FileCheck %s --check-prefix=OBEYED

// CHECK-DAG: #[[LAYOUT:.*]] = #tile.layout<offset [2:d0*32, 32:d0]>
// CHECK-DAG: #[[ONE:.*]] = #tile.schedule<convert = "register">
// CHECK-DAG: #[[HAND:.*]] = #tile.schedule<convert = "memory">
// CPU-DAG: #[[SOME:.*]] = #tile.schedule<convert = "shared">
// CPU-DAG: #[[APART:.*]] = #tile.schedule<convert = "shared", codes = #[[LAYOUT]]>
// GPU-DAG: #[[APART:.*]] = #tile.schedule<convert = "register", codes = #[[LAYOUT]]>

// REMARK-DAG: weights are converted in "register"; predicted: register {{.*}} us, shared no (no kernel that shares converted weights computes this product), memory {{.*}} us
// REMARK-DAG: weights are converted in "memory"; predicted: register {{.*}} us, shared {{.*}} us, memory {{.*}} us

// CHECK-LABEL: func @one
// CHECK: reduction
// CPU-SAME: tile.schedule = #[[ONE]]
// GPU-SAME: tile.schedule = #[[ONE]]
func.func @one(%x: tensor<1x2048xf16>, %p: tensor<2048x2048xi8>, %c: tensor<1x2048xf16>) -> tensor<1x2048xf16> {
  %e = tensor.empty() : tensor<2048x2048xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<2048x2048xi8>) outs(%e : tensor<2048x2048xf16>) {
  ^bb0(%a: i8, %o: f16):
    %v = arith.sitofp %a : i8 to f16
    linalg.yield %v : f16
  } -> tensor<2048x2048xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1x2048xf16>, tensor<2048x2048xf16>) outs(%c : tensor<1x2048xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %v = arith.mulf %a, %b : f16
    %s = arith.addf %o, %v : f16
    linalg.yield %s : f16
  } -> tensor<1x2048xf16>
  return %r : tensor<1x2048xf16>
}

// CHECK-LABEL: func @many
// CHECK: reduction
// CPU-SAME: tile.schedule = #[[SOME]]
// GPU-SAME: tile.schedule = #[[HAND]]
// OBEYED-LABEL: func @many
// OBEYED: arith.sitofp
// OBEYED: reduction
// OBEYED-NOT: tile.schedule
// OBEYED-LABEL: func @constant
func.func @many(%x: tensor<4096x2048xf16>, %p: tensor<2048x2048xi8>, %c: tensor<4096x2048xf16>) -> tensor<4096x2048xf16> {
  %e = tensor.empty() : tensor<2048x2048xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<2048x2048xi8>) outs(%e : tensor<2048x2048xf16>) {
  ^bb0(%a: i8, %o: f16):
    %v = arith.sitofp %a : i8 to f16
    linalg.yield %v : f16
  } -> tensor<2048x2048xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4096x2048xf16>, tensor<2048x2048xf16>) outs(%c : tensor<4096x2048xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %v = arith.mulf %a, %b : f16
    %s = arith.addf %o, %v : f16
    linalg.yield %s : f16
  } -> tensor<4096x2048xf16>
  return %r : tensor<4096x2048xf16>
}

// Bytes 0x21, 0x43, … hold codes 1, 2, 3, …: packed again, byte 0 has codes 0 and 32 of the row.
// CHECK-LABEL: func @constant
// CHECK: reduction
// CHECK-SAME: tile.schedule = #[[APART]]
// A product that a person scheduled stays.
// CHECK: reduction
// CHECK-SAME: tile.schedule = #[[HAND]]
// The rows need no copy: they are only seen with k cut.
// OBEYED: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [16, 2, 32] : tensor<16x64xf32> into tensor<16x2x32xf32>
// OBEYED-NOT: tensor<16x32x2xf32>
// OBEYED: reduction
func.func @constant(%x: tensor<16x64xf32>, %c: tensor<16x16xf32>, %y: tensor<16x64xi8>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %p = arith.constant dense_resource<codes> : tensor<16x32xi8>
  %shifts = arith.constant dense<[0, 4]> : tensor<2xi8>
  %mask = arith.constant 15 : i8
  %ue = tensor.empty() : tensor<16x32x2xi8>
  %u = linalg.generic {indexing_maps = [affine_map<(n, k, t) -> (n, k)>, affine_map<(n, k, t) -> (t)>, affine_map<(n, k, t) -> (n, k, t)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %shifts : tensor<16x32xi8>, tensor<2xi8>) outs(%ue : tensor<16x32x2xi8>) {
  ^bb0(%a: i8, %t: i8, %o: i8):
    %v = arith.shrui %a, %t : i8
    %vm = arith.andi %v, %mask : i8
    linalg.yield %vm : i8
  } -> tensor<16x32x2xi8>
  %uc = tensor.collapse_shape %u [[0], [1, 2]] : tensor<16x32x2xi8> into tensor<16x64xi8>
  %e = tensor.empty() : tensor<16x64xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%uc : tensor<16x64xi8>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%a: i8, %o: f32):
    %v = arith.uitofp %a : i8 to f32
    linalg.yield %v : f32
  } -> tensor<16x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<16x64xf32>, tensor<16x64xf32>) outs(%c : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.mulf %a, %b : f32
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  } -> tensor<16x16xf32>
  %w2 = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<16x64xi8>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%a: i8, %o: f32):
    %v = arith.uitofp %a : i8 to f32
    linalg.yield %v : f32
  } -> tensor<16x64xf32>
  %r2 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w2 : tensor<16x64xf32>, tensor<16x64xf32>) outs(%c : tensor<16x16xf32>)
      attrs = {tile.schedule = #tile.schedule<convert = "memory">} {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.mulf %a, %b : f32
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  } -> tensor<16x16xf32>
  return %r, %r2 : tensor<16x16xf32>, tensor<16x16xf32>
}
{-#
  dialect_resources: { builtin: { codes: "0x0400000021436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f21436587a9cbed0f" } }
#-}
