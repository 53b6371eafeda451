// A transpose takes a tile that fits the shared memory through which it is turned: 64 KiB on gfx942.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-construct-tiles{chip=gfx942}))' | FileCheck %s
// RUN: %tile_translate %s --tile-to-amdgcn --chip=gfx942 | FileCheck %s --check-prefix=CODE

// 128 × 64 elements of 4 bytes are 32 KiB.
// CHECK: #tile.schedule<kind = "threads", block = [128, 64],
// CODE: .amdhsa_group_segment_fixed_size {{[1-9][0-9]*}}
func.func @main(%a: tensor<2000x3000xf32>) -> tensor<3000x2000xf32> {
  %e = tensor.empty() : tensor<3000x2000xf32>
  %t = linalg.transpose ins(%a : tensor<2000x3000xf32>) outs(%e : tensor<3000x2000xf32>) permutation = [1, 0]
  return %t : tensor<3000x2000xf32>
}
