// tile-fuse-at-memory-level{products=false}: a norm becomes one group. A product has a kernel of its own, and keeps the
// ops that its kernel computes at its end.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-generalize-named-ops),tile-fuse-at-memory-level{chip=sm_90a products=false})' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-generalize-named-ops),tile-fuse-at-memory-level{chip=sm_90a})' | FileCheck %s --check-prefix=ALL
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// CHECK: #[[S:.*]] = #tile.schedule<kind = "group", block = [1, 4096], warps = [8],
// CHECK-LABEL: func.func @main
// CHECK: %[[PRODUCT:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: %[[RELU:.*]] = linalg.generic {{.*}} ins(%[[PRODUCT]] :
// CHECK: tile.group ins({{.*}}%[[RELU]]{{.*}}) {{.*}}schedule #[[S]]
// CHECK-NOT: tile.group
// ALL: tile.group
// ALL: iterator_types = ["parallel", "parallel", "reduction"]
func.func @main(%x: tensor<8192x64xf16>, %y: tensor<64x4096xf16>) -> tensor<8192x4096xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192x4096xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<8192x64xf16>, tensor<64x4096xf16>) outs(%f : tensor<8192x4096xf32>) {
  ^bb0(%v: f16, %w: f16, %o: f32):
    %l = arith.extf %v : f16 to f32
    %r = arith.extf %w : f16 to f32
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<8192x4096xf32>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8192x4096xf32>) outs(%e : tensor<8192x4096xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.maximumf %v, %z : f32
    linalg.yield %t : f32
  } -> tensor<8192x4096xf32>
  %se = tensor.empty() : tensor<8192xf32>
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<8192xf32>) -> tensor<8192xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%h : tensor<8192x4096xf32>) outs(%s0 : tensor<8192xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.addf %o, %v : f32
    linalg.yield %t : f32
  } -> tensor<8192xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %s : tensor<8192x4096xf32>, tensor<8192xf32>) outs(%e : tensor<8192x4096xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %t = arith.subf %v, %w : f32
    linalg.yield %t : f32
  } -> tensor<8192x4096xf32>
  return %d : tensor<8192x4096xf32>
}
