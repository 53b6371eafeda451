// Schedules of a CPU's matrix products that its kernels cannot have, refused where they stand by both passes.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4}))'
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(convert-linalg-to-tile{chip=x86-64-v4})'

func.func @rows(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{has a schedule whose block takes 60 of dimension 0, want a multiple of the register tile's 8}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<block = [60, 64, 64], register = [8, 32]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @lanes(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{has a schedule whose register tile is 20 wide, want a multiple of the vectors' 16 elements}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<block = [64, 64, 64], register = [8, 20]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @depth(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{has a schedule whose block takes 100 of dimension 2, want a divisor of its extent or a multiple of 8}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<block = [64, 64, 100], register = [8, 32]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @pack(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{has a schedule whose pack is not known, want [a:"k", b:"n"], [a:"none", b:"none"] or [a:"none", b:"k"]}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<block = [64, 64, 64], pack = [a:"jc", b:"n"]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @widened(%a: tensor<256x256xbf16>, %b: tensor<256x256xbf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{has a schedule whose register tile is said though nothing is packed, want known sizes, floats of the result's type and contiguous rows of B}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<block = [256, 64, 64], register = [8, 32], pack = [a:"none", b:"none"]>} {
  ^bb0(%x: bf16, %y: bf16, %s: f32):
    %u = arith.extf %x : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @sizes(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{has a schedule whose register tile has not two sizes, want rows and columns}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<block = [64, 64, 64], register = [8]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @part(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{has a schedule whose block takes 64 of dimension 0, want all of it where nothing is packed}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<block = [64, 64, 64], pack = [a:"none", b:"none"]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @registers(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{has a schedule whose register tile is 32 x 32, want sums for at most 32 vectors}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<block = [64, 64, 64], register = [32, 32]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @split(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{has a schedule whose split is 2, want a divisor of k, of known sizes, where nothing is packed}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<block = [64, 64, 64], register = [8, 32], split = 2>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @wide_along_k(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{has a schedule whose b is packed along k, want fewer columns than the vectors' 16 elements}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<block = [64, 4, 256], register = [4, 4], pack = [a:"none", b:"k"]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @part_of_k(%a: tensor<64x64xf32>, %b: tensor<64x4xf32>, %c: tensor<64x4xf32>) -> tensor<64x4xf32> {
  // expected-error@below {{has a schedule whose b is packed along k}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x4xf32>) outs(%c : tensor<64x4xf32>) attrs = {tile.schedule = #tile.schedule<block = [64, 4, 32], register = [4, 4], pack = [a:"none", b:"k"]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
}

// -----

func.func @no_register_tile(%a: tensor<64x64xf32>, %b: tensor<64x4xf32>, %c: tensor<64x4xf32>) -> tensor<64x4xf32> {
  // expected-error@below {{has a schedule whose b is packed along k}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x4xf32>) outs(%c : tensor<64x4xf32>) attrs = {tile.schedule = #tile.schedule<block = [64, 4, 64], pack = [a:"none", b:"k"]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
}
