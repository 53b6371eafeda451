// Schedules that do not fit the op or the machine. convert-linalg-to-tile refuses those that do not fit the op too.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=sm_80}))'
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(convert-linalg-to-tile{chip=sm_80})' 2>&1 | FileCheck %s
// CHECK: error: {{.*}}schedule: `block` has 1 sizes
// CHECK: error: {{.*}}schedule: `block` takes 48 of dimension 1
// CHECK: error: {{.*}}schedule: `block` takes 2 of dimension 2

func.func @too_few(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error@below {{schedule: `block` has 1 sizes; the op has 2 dimensions}}
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf32>) outs(%b : tensor<64x64xf32>) attrs = {tile.schedule = #tile.schedule<block = [64]>} {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @odd(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error@below {{schedule: `block` takes 48 of dimension 1; a GPU's sizes are powers of two}}
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf32>) outs(%b : tensor<64x64xf32>) attrs = {tile.schedule = #tile.schedule<block = [1, 48]>} {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @three_wide(%a: tensor<64x64x64xf32>, %b: tensor<64x64x64xf32>) -> tensor<64x64x64xf32> {
  // expected-error@below {{schedule: `block` takes 2 of dimension 2; this kernel takes 1 of it}}
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : tensor<64x64x64xf32>) outs(%b : tensor<64x64x64xf32>) attrs = {tile.schedule = #tile.schedule<block = [2, 2, 2]>} {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<64x64x64xf32>
  return %0 : tensor<64x64x64xf32>
}

// -----

func.func @too_many_stages(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  // expected-error@below {{schedule: `stages` is 2000000000; at most 5 fit the shared memory of sm_80}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) attrs = {tile.schedule = #tile.schedule<block = [128, 128, 64], warps = [2, 2, 1], stages = 2000000000>} {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %x32 = arith.extf %x : f16 to f32
    %y32 = arith.extf %y : f16 to f32
    %p = arith.mulf %x32, %y32 : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// -----

func.func @too_large(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  // expected-error@below {{schedule: the tile does not fit the registers of sm_80}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) attrs = {tile.schedule = #tile.schedule<block = [256, 256, 64], warps = [2, 2, 1], stages = 4>} {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %x32 = arith.extf %x : f16 to f32
    %y32 = arith.extf %y : f16 to f32
    %p = arith.mulf %x32, %y32 : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// -----

func.func @extents(%a: tensor<64x?xf32>, %b: tensor<64x?xf32>) -> tensor<64x?xf32> {
  // expected-error@below {{has 1 tile.extents, expected one for each of 2 dimensions}}
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x?xf32>) outs(%b : tensor<64x?xf32>) attrs = {tile.extents = array<i64: 64>} {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<64x?xf32>
  return %0 : tensor<64x?xf32>
}

// -----

func.func @grouped(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error@below {{schedule: `group` applies only to GPU products; this kernel is of kind "threads"}}
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x64xf32>) outs(%b : tensor<64x64xf32>) attrs = {tile.schedule = #tile.schedule<block = [1, 64], group = [8]>} {
  ^bb0(%x: f32, %o: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// A schedule on a named op is obeyed as well: see generalize_named_ops.mlir.
#map_a = affine_map<(m, n, k) -> (m, k)>
#map_b = affine_map<(m, n, k) -> (k, n)>
#map_c = affine_map<(m, n, k) -> (m, n)>
func.func @no_block(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error@below {{schedule: `block` has 0 sizes; the op has 3 dimensions}}
  %0 = linalg.generic {indexing_maps = [#map_a, #map_b, #map_c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) attrs = {tile.schedule = #tile.schedule<kind = "nosuch">} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

#map_a = affine_map<(m, n, k) -> (m, k)>
#map_b = affine_map<(m, n, k) -> (k, n)>
#map_c = affine_map<(m, n, k) -> (m, n)>
func.func @no_clusters(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error@below {{schedule: `cluster` has 2 programs; sm_80 has clusters of at most 1}}
  %0 = linalg.generic {indexing_maps = [#map_a, #map_b, #map_c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) attrs = {tile.schedule = #tile.schedule<block = [16, 16, 16], cluster = [2]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

#map_a = affine_map<(m, n, k) -> (m, k)>
#map_b = affine_map<(m, n, k) -> (k, n)>
#map_c = affine_map<(m, n, k) -> (m, n)>
func.func @registers(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error@below {{schedule: `registers` is 300; a thread of sm_80 has at most 255}}
  %0 = linalg.generic {indexing_maps = [#map_a, #map_b, #map_c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) attrs = {tile.schedule = #tile.schedule<block = [16, 16, 16], registers = 300>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// Numbers whose product would wrap are only too many.
func.func @wrapping(%a: tensor<13x24xf32>, %b: tensor<24x17xf32>, %c: tensor<13x17xf32>) -> tensor<13x17xf32> {
  // expected-error@below {{schedule: the tile does not fit the threads of sm_80}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<13x24xf32>, tensor<24x17xf32>) outs(%c : tensor<13x17xf32>) attrs = {tile.schedule = #tile.schedule<kind = "product", block = [16, 4, 2], warps = [2147483647, 2147483647, 4], stages = 3>} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<13x17xf32>
  return %0 : tensor<13x17xf32>
}
