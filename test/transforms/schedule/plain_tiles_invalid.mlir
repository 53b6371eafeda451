// Schedules that the kernels of softmax, pack and argmax cannot have are errors at the op.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4}),convert-linalg-to-tile{chip=x86-64-v4})'

func.func @sizes(%x: tensor<33x1000xf32>, %e: tensor<33x1000xf32>) -> tensor<33x1000xf32> {
  // expected-error@below {{schedule: `block` has 3 sizes; the op has 2 dimensions}}
  %r = linalg.softmax {tile.schedule = #tile.schedule<block = [4, 1000, 2]>} dimension(1) ins(%x : tensor<33x1000xf32>) outs(%e : tensor<33x1000xf32>) -> tensor<33x1000xf32>
  return %r : tensor<33x1000xf32>
}

// -----

func.func @kind(%x: tensor<33x1000xf32>, %e: tensor<33x1000xf32>) -> tensor<33x1000xf32> {
  // expected-error@below {{schedule: `kind` "packed" does not apply to this op on x86-64-v4}}
  %r = linalg.softmax {tile.schedule = #tile.schedule<kind = "packed", block = [4, 1000]>} dimension(1) ins(%x : tensor<33x1000xf32>) outs(%e : tensor<33x1000xf32>) -> tensor<33x1000xf32>
  return %r : tensor<33x1000xf32>
}

// -----

func.func @pack(%x: tensor<32x96xf32>, %e: tensor<4x12x8x8xf32>) -> tensor<4x12x8x8xf32> {
  // expected-error@below {{schedule: `warps` applies only to GPU kinds; this kernel is of kind "vector"}}
  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %e {tile.schedule = #tile.schedule<block = [1, 1, 8, 8], warps = [4]>} : tensor<32x96xf32> -> tensor<4x12x8x8xf32>
  return %r : tensor<4x12x8x8xf32>
}
