// One number of the machine changed, and the tile changes: a module's own machine with overrides.
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-construct-tiles))' | FileCheck %s
// Half of the registers and a tenth of the shared memory: a smaller tile.
// CHECK: #tile.schedule<kind = "product", block = [128, 256, 64], warps = [2, 4, 1], stages = 3,
module attributes {tile.machine = #tile.machine<"sm_80">} {
  func.func @usual(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
    %0 = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    return %0 : tensor<4096x4096xf32>
  }
}

// -----

// CHECK: #tile.schedule<kind = "product", block = [64, 64, 32], warps = [2, 2, 1], stages = 2,
module attributes {tile.machine = #tile.machine<"sm_80", "registers.per_thread" = 128, "shared.per_block.bytes" = 16384>} {
  func.func @small(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
    %0 = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    return %0 : tensor<4096x4096xf32>
  }
}
