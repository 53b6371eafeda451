// A product whose schedule splits k: the parts' products and their sum, and the same numbers as by definition.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-split-reductions{chip=x86-64-v4}),tile-group-ops{chip=x86-64-v4},convert-linalg-to-tile{chip=x86-64-v4})' | FileCheck %s
// RUN: %tile_run %s --check-against=interpret | FileCheck %s --check-prefix=RIGHT
// RIGHT: result 0: right
// CHECK-LABEL: func.func @main
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [3, 4, 50]
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [4, 50, 301]
// CHECK: %[[PARTS:.*]] = tile.launch @matmul_0 {{.*}} -> tensor<4x3x301xf32>
// CHECK: tile.launch @reduction_0 grid({{.*}}) ins(%[[PARTS]] :
func.func @main(%a: tensor<3x200xf32>, %b: tensor<200x301xf32>) -> tensor<3x301xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x301xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<3x301xf32>) -> tensor<3x301xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x200xf32>, tensor<200x301xf32>) outs(%c : tensor<3x301xf32>) attrs = {tile.schedule = #tile.schedule<kind = "split", block = [3, 160, 5], split = 4>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<3x301xf32>
  return %r : tensor<3x301xf32>
}
