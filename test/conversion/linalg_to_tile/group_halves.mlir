// Products of f16 in a group are added in f32 on a GPU that adds no f16, and rounded once: as a product that stands
// alone. An instruction of sm_80 adds f16.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),convert-linalg-to-tile{chip=gfx942})' | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),convert-linalg-to-tile{chip=sm_80})' | FileCheck %s --check-prefixes=CHECK,NARROW

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: tile.kernel private @group_0
// WIDE: tile.mma {{.*}} : tensor<32x64xf16>, tensor<64x32xf16> -> tensor<32x32xf32>
// WIDE: arith.truncf {{.*}} : tensor<32x32xf32> to tensor<32x32xf16>
// NARROW: tile.mma {{.*}} : tensor<32x64xf16>, tensor<64x32xf16> -> tensor<32x32xf16>
// NARROW-NOT: arith.truncf
// CHECK: tile.store {{.*}} : tensor<32x32xf16>
func.func @halves(%a: tensor<96x64xf16>, %b: tensor<64x32xf16>) -> tensor<96x32xf16> {
  %g = tile.group ins(%a, %b : tensor<96x64xf16>, tensor<64x32xf16>)
      schedule #tile.schedule<kind = "group", block = [32, 32, 64]> -> tensor<96x32xf16> {
  ^bb0(%x: tensor<96x64xf16>, %y: tensor<64x32xf16>):
    %e = tensor.empty() : tensor<96x32xf16>
    %z = arith.constant 0.0 : f16
    %f = linalg.fill ins(%z : f16) outs(%e : tensor<96x32xf16>) -> tensor<96x32xf16>
    %p = linalg.matmul ins(%x, %y : tensor<96x64xf16>, tensor<64x32xf16>) outs(%f : tensor<96x32xf16>) -> tensor<96x32xf16>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%p : tensor<96x32xf16>) outs(%e : tensor<96x32xf16>) {
    ^bb0(%v: f16, %o: f16):
      %t = arith.negf %v : f16
      linalg.yield %t : f16
    } -> tensor<96x32xf16>
    tile.yield %r : tensor<96x32xf16>
  }
  return %g : tensor<96x32xf16>
}
