// tile-turn-factors copies a factor of narrow elements so that its neighbours lie along k, where products of warpgroups
// then pay for the copy. It leaves alone f16, small products, and chips without such products.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-turn-factors{chip=sm_90a}))' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-turn-factors{chip=sm_80}))' | FileCheck %s --check-prefix=NONE
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>

// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @bytes(
// CHECK-SAME: %[[X:.*]]: tensor<2048x4096xi8>, %[[Y:.*]]: tensor<4096x1024xi8>
// CHECK: %[[T:.*]] = linalg.generic {indexing_maps = [#[[FROM]], #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%[[Y]] : tensor<4096x1024xi8>) outs(%{{.*}} : tensor<1024x4096xi8>)
// CHECK: linalg.generic {indexing_maps = [#[[A]], #[[TURNED]], #{{.*}}], {{.*}} ins(%[[X]], %[[T]] : tensor<2048x4096xi8>, tensor<1024x4096xi8>)
// NONE-NOT: tensor<1024x4096xi8>
func.func @bytes(%x: tensor<2048x4096xi8>, %y: tensor<4096x1024xi8>, %z: tensor<2048x1024xi32>) -> tensor<2048x1024xi32> {
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<2048x4096xi8>, tensor<4096x1024xi8>) outs(%z : tensor<2048x1024xi32>) {
  ^bb0(%v: i8, %w: i8, %o: i32):
    %l = arith.extsi %v : i8 to i32
    %r = arith.extsi %w : i8 to i32
    %m = arith.muli %l, %r : i32
    %t = arith.addi %o, %m : i32
    linalg.yield %t : i32
  } -> tensor<2048x1024xi32>
  return %p : tensor<2048x1024xi32>
}

// CHECK-LABEL: func.func @wide(
// CHECK: indexing_maps = [#[[A]], #[[B]], #{{.*}}]
func.func @wide(%x: tensor<2048x4096xf16>, %y: tensor<4096x1024xf16>, %z: tensor<2048x1024xf32>) -> tensor<2048x1024xf32> {
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<2048x4096xf16>, tensor<4096x1024xf16>) outs(%z : tensor<2048x1024xf32>) {
  ^bb0(%v: f16, %w: f16, %o: f32):
    %l = arith.extf %v : f16 to f32
    %r = arith.extf %w : f16 to f32
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<2048x1024xf32>
  return %p : tensor<2048x1024xf32>
}

// CHECK-LABEL: func.func @small(
// CHECK: indexing_maps = [#[[A]], #[[B]], #{{.*}}]
func.func @small(%x: tensor<64x64xi8>, %y: tensor<64x64xi8>, %z: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<64x64xi8>, tensor<64x64xi8>) outs(%z : tensor<64x64xi32>) {
  ^bb0(%v: i8, %w: i8, %o: i32):
    %l = arith.extsi %v : i8 to i32
    %r = arith.extsi %w : i8 to i32
    %m = arith.muli %l, %r : i32
    %t = arith.addi %o, %m : i32
    linalg.yield %t : i32
  } -> tensor<64x64xi32>
  return %p : tensor<64x64xi32>
}
