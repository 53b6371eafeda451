// What tile-specialize-sizes and tile-merge-dimensions decide, tile-construct-tiles completes: it asks no policy again.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-specialize-sizes{chip=sm_80 buckets=16,4096},tile-construct-tiles{chip=sm_80}))' --tile-pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: tile-construct-tiles: 1 constructed
// SIZES: tile-construct-tiles: 2 kept
// SIZES: tile-construct-tiles: 1 asked
// SIZES: tile-specialize-sizes: 2 versions
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-merge-dimensions{chip=x86-64-v4},tile-construct-tiles{chip=x86-64-v4 ops=products}))' --tile-pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=MERGED
// MERGED: tile-construct-tiles: 1 kept
// MERGED: tile-construct-tiles: 1 asked
// MERGED: tile-merge-dimensions: 1 merged
// Another policy decides by itself.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-specialize-sizes{chip=sm_80 buckets=16,4096 policy=fixed},tile-construct-tiles{chip=sm_80 policy=fixed}))' --tile-pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=FIXED
// FIXED: tile-construct-tiles: 3 asked

func.func @rows(%a: tensor<?x256xf16>, %b: tensor<256x96xf16>, %c: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x256xf16>, tensor<256x96xf16>) outs(%c : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %r : tensor<?x96xf32>
}
func.func @images(%x: tensor<1x16x16x256xf32>, %f: tensor<3x3x256x256xf32>, %y: tensor<1x14x14x256xf32>) -> tensor<1x14x14x256xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %f : tensor<1x16x16x256xf32>, tensor<3x3x256x256xf32>) outs(%y : tensor<1x14x14x256xf32>) -> tensor<1x14x14x256xf32>
  return %r : tensor<1x14x14x256xf32>
}
