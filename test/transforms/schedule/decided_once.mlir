// A product's tile is asked for once in a whole pipeline. Its structure is read twice: by the pass that decides, and by
// the conversion that builds the kernel.
// RUN: %tile_opt %s --tile-to-nvvm-pipeline=chip=sm_90a --tile-pass-statistics -o /dev/null 2>&1 | FileCheck %s
// RUN: %tile_opt %s --tile-to-cpu-pipeline --tile-pass-statistics -o /dev/null 2>&1 | FileCheck %s
// RUN: %tile_opt %s --tile-to-rocdl-pipeline=chip=gfx942 --tile-pass-statistics -o /dev/null 2>&1 | FileCheck %s
// CHECK: linalg structure: 2 reads
// CHECK: tile-construct-tiles: 1 constructed
// CHECK: tile-construct-tiles: 1 asked
func.func @product(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1024x1024xf16>, tensor<1024x1024xf16>) outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}
