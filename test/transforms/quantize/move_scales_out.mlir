// A number that multiplies all elements of a factor multiplies the sum, where the multiplication permits it. The numbers
// themselves: test/run/types/scaled_factors.test.
// RUN: %tile_opt %s --pass-pipeline="builtin.module(func.func(tile-move-scales-out))" --split-input-file | FileCheck %s

#gk = affine_map<(n, g, k) -> (n, g, k)>
#g = affine_map<(n, g, k) -> (n, g)>
#t = affine_map<(n, g, k) -> ()>
#id = affine_map<(m, k) -> (m, k)>
#one = affine_map<(m, k) -> (0)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// Of both factors: a tensor without axes, ahead of the block's scale, and one of one f16. The sum begins with 0 and is
// added to what it began with.
// CHECK-LABEL: func.func @both
// CHECK-SAME: (%[[X:.*]]: tensor<4x32xf32>, %[[XT:.*]]: tensor<1xf16>, %{{.*}}, %[[WT:.*]]: tensor<f32>, %[[C:.*]]: tensor<4x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<4x32xf32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[A]]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x2x16xf4E2M1FN>, tensor<8x2xf8E4M3FN>)
// CHECK: %[[S:.*]] = arith.mulf %{{.*}}, %{{.*}} fastmath<reassoc> : f32
// CHECK-NEXT: linalg.yield %[[S]]
// CHECK: %[[Z:.*]] = linalg.generic {{.*}} ins(%{{.*}} : f32) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} outs(%[[Z]] : tensor<4x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUM]], %[[XT]], %[[WT]], %[[C]] : tensor<4x8xf32>, tensor<1xf16>, tensor<f32>, tensor<4x8xf32>)
// CHECK: arith.extf
// CHECK: arith.mulf %{{.*}} fastmath<reassoc>
// CHECK: arith.mulf %{{.*}} fastmath<reassoc>
// CHECK: arith.addf
func.func @both(%x: tensor<4x32xf32>, %xt: tensor<1xf16>, %codes: tensor<8x2x16xf4E2M1FN>, %scales: tensor<8x2xf8E4M3FN>, %wt: tensor<f32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x32xf32>
  %a = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %xt : tensor<4x32xf32>, tensor<1xf16>) outs(%e : tensor<4x32xf32>) {
  ^bb0(%i: f32, %t: f16, %o: f32):
    %s = arith.extf %t : f16 to f32
    %m = arith.mulf %i, %s fastmath<fast> : f32
    linalg.yield %m : f32
  } -> tensor<4x32xf32>
  %f = tensor.empty() : tensor<8x2x16xf32>
  %b = linalg.generic {indexing_maps = [#gk, #t, #g, #gk], iterator_types = ["parallel", "parallel", "parallel"]} ins(%codes, %wt, %scales : tensor<8x2x16xf4E2M1FN>, tensor<f32>, tensor<8x2xf8E4M3FN>) outs(%f : tensor<8x2x16xf32>) {
  ^bb0(%i: f4E2M1FN, %t: f32, %s: f8E4M3FN, %o: f32):
    %v = arith.extf %i : f4E2M1FN to f32
    %u = arith.extf %s : f8E4M3FN to f32
    %p = arith.mulf %v, %t fastmath<reassoc> : f32
    %q = arith.mulf %p, %u fastmath<reassoc> : f32
    linalg.yield %q : f32
  } -> tensor<8x2x16xf32>
  %d = tensor.collapse_shape %b [[0], [1, 2]] : tensor<8x2x16xf32> into tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %d : tensor<4x32xf32>, tensor<8x32xf32>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %m = arith.mulf %i, %j : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// Without `reassoc` anywhere on the way, one for each row, and a factor that is also returned: all stay.
#id = affine_map<(m, k) -> (m, k)>
#row = affine_map<(m, k) -> (m)>
#none = affine_map<(m, k) -> ()>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-3: arith.mulf %{{.*}} : f32
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @stays(%x: tensor<4x32xf32>, %t: tensor<f32>, %w: tensor<8x32xf32>, %ws: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x32xf32>
  %a = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %t : tensor<4x32xf32>, tensor<f32>) outs(%e : tensor<4x32xf32>) {
  ^bb0(%i: f32, %s: f32, %o: f32):
    %m = arith.mulf %i, %s fastmath<reassoc> : f32
    linalg.yield %m : f32
  } -> tensor<4x32xf32>
  %f = tensor.empty() : tensor<8x32xf32>
  %b = linalg.generic {indexing_maps = [#id, #none, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%w, %t, %ws : tensor<8x32xf32>, tensor<f32>, tensor<8xf32>) outs(%f : tensor<8x32xf32>) {
  ^bb0(%i: f32, %s: f32, %u: f32, %o: f32):
    %p = arith.mulf %i, %s fastmath<reassoc> : f32
    %q = arith.mulf %p, %u : f32
    linalg.yield %q : f32
  } -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x32xf32>, tensor<8x32xf32>) outs(%zero : tensor<4x8xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %m = arith.mulf %i, %j : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %r, %a : tensor<4x8xf32>, tensor<4x32xf32>
}
