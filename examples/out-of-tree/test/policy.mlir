// The plugin's policy: more programs than the one that is constructed by default, and a schedule that says so; a policy
// that nobody registered is an error that names this one too.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=sm_80 policy=small-blocks}))' > %t.small
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=sm_80}))' > %t.usual
// RUN: FileCheck %s < %t.small
// RUN: not diff %t.small %t.usual
// RUN: not %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-construct-tiles{policy=tiny}))' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// CHECK: #tile.schedule<kind = "product", block =
// UNKNOWN: policy: unknown 'tiny'; the policies are construct, exhaustive-model, measure, fixed, random, small-blocks

func.func @main(%a: tensor<2048x2048xf16>, %b: tensor<2048x2048xf16>, %c: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2048x2048xf16>, tensor<2048x2048xf16>) outs(%c : tensor<2048x2048xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %u = arith.extf %x : f16 to f32
    %v = arith.extf %y : f16 to f32
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2048x2048xf32>
  return %0 : tensor<2048x2048xf32>
}
