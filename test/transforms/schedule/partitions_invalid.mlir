// Partitions and clusters that a schedule names and a product or a kernel cannot have.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tile-generalize-named-ops,tile-construct-tiles),tile.kernel(tile-specialize-warps))'

module attributes {tile.machine = #tile.machine<"sm_90a">} {
  func.func @eight(%a: tensor<512x64xf16>, %b: tensor<64x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
    // expected-error@+1 {{schedule: `specialize` does not suit `warps` of 8; it takes [4, 8], or [4, 4, 4] where `warps` are 4}}
    %0 = linalg.matmul {tile.schedule = #tile.schedule<block = [128, 128, 64], warps = [2, 4, 1], specialize = [4, 4, 4]>} ins(%a, %b : tensor<512x64xf16>, tensor<64x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
    return %0 : tensor<512x512xf32>
  }
}

// -----

module attributes {tile.machine = #tile.machine<"sm_80">} {
  func.func @chip(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
    // expected-error@+1 {{schedule: `specialize` needs products of groups of warps, which sm_80 lacks for these types}}
    %0 = linalg.matmul {tile.schedule = #tile.schedule<block = [64, 64, 32], warps = [4, 1, 1], specialize = [4, 4]>} ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
}

// -----

module attributes {tile.machine = #tile.machine<"sm_90a">} {
  func.func @exponential(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
    // expected-error@+1 {{schedule: `specialize` applies only to GPU products; this kernel is of kind "threads"}}
    %0 = linalg.exp {tile.schedule = #tile.schedule<block = [1, 64], specialize = [4, 4]>} ins(%a : tensor<64x64xf32>) outs(%b : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
}

// -----

// expected-error@+1 {{schedule: `specialize` names partitions, but this kernel is no plain product that an engine loads and these groups of warps multiply}}
tile.kernel @no_product() attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32,
    schedule = #tile.schedule<block = [64, 64, 64], specialize = [4, 4, 4]>} {
  tile.return
}

// -----

module attributes {tile.machine = #tile.machine<"sm_90a">} {
  func.func @clusters(%a: tensor<320x64xf16>, %b: tensor<64x512xf16>, %c: tensor<320x512xf32>) -> tensor<320x512xf32> {
    // expected-error@+1 {{schedule: `cluster` of 2 in `group` of 4 takes known rows of tiles that make whole groups of whole clusters}}
    %0 = linalg.matmul {tile.schedule = #tile.schedule<block = [64, 64, 64], warps = [4, 1, 1], group = [4], cluster = [2]>} ins(%a, %b : tensor<320x64xf16>, tensor<64x512xf16>) outs(%c : tensor<320x512xf32>) -> tensor<320x512xf32>
    return %0 : tensor<320x512xf32>
  }
}
