// Schedules of a CPU's matrix products that its kernels cannot have, refused where they stand by both passes.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4}))'
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(convert-linalg-to-tile{chip=x86-64-v4})'

func.func @rows(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{schedule: `block` takes 60 of dimension 0; it must be a multiple of the register tile's 8}}
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
  // expected-error@below {{schedule: `register` is [8, 20]; its columns must be a multiple of the vector's 16 elements}}
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
  // expected-error@below {{schedule: `block` takes 100 of dimension 2; it must be a divisor of its extent or a multiple of 8}}
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
  // expected-error@below {{schedule: `kind` "jumbled" is unknown; the kinds are packed, direct, along-depth, split, streamed, window, vector, product, threads}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<kind = "jumbled", block = [64, 64, 64]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @widened(%a: tensor<256x256xbf16>, %b: tensor<256x256xbf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{schedule: `kind` is "direct"; it needs known sizes, floats of the result's type and contiguous rows of B}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<kind = "direct", block = [256, 64, 64], register = [8, 32]>} {
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
  // expected-error@below {{schedule: `register` has 1 sizes; it takes rows and columns}}
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
  // expected-error@below {{schedule: `block` takes 64 of dimension 0; the kinds "streamed" and "split" take all of it}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<kind = "streamed", block = [64, 64, 64]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @registers(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{schedule: `register` is [32, 32]; its sums may take at most 32 vectors}}
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
  // expected-error@below {{schedule: `split` applies only to the kind split; this kernel is of kind "packed"}}
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
  // expected-error@below {{schedule: `kind` is "along-depth"; it needs fewer columns than a vector's 16 elements}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<kind = "along-depth", block = [64, 4, 256], register = [4, 4]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @part_of_k(%a: tensor<64x64xf32>, %b: tensor<64x4xf32>, %c: tensor<64x4xf32>) -> tensor<64x4xf32> {
  // expected-error@below {{schedule: `kind` is "along-depth"}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x4xf32>) outs(%c : tensor<64x4xf32>) attrs = {tile.schedule = #tile.schedule<kind = "along-depth", block = [64, 4, 32], register = [4, 4]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
}

// -----

func.func @no_register_tile(%a: tensor<64x64xf32>, %b: tensor<64x4xf32>, %c: tensor<64x4xf32>) -> tensor<64x4xf32> {
  // expected-error@below {{schedule: `kind` is "along-depth"}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x4xf32>) outs(%c : tensor<64x4xf32>) attrs = {tile.schedule = #tile.schedule<kind = "along-depth", block = [64, 4, 64]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
}

// -----

func.func @panels(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{schedule: `panels` is 77; expected 0 or 1}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<kind = "packed", block = [64, 64, 64], register = [8, 32], panels = 77>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @streamed_panels(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{schedule: `panels` applies only to the kinds packed, direct and along-depth; this kernel is of kind "streamed"}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<kind = "streamed", block = [256, 64, 64], panels = 1>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

func.func @panels_of_no_constant(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-error@below {{schedule: `panels` is 1, but the right operand is not a constant; remove `panels`}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<kind = "packed", block = [64, 64, 64], register = [8, 32], panels = 1>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}
