// Sums of products of which only slices are used become sums on slices.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-sum-on-slices,canonicalize))' -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %tile_run %s --entry=gates --target=interpret --seed=1 --out=%t.a.npy
// RUN: %tile_run %t.mlir --entry=gates --target=interpret --seed=1 --out=%t.b.npy
// RUN: cmp %t.a.npy %t.b.npy
// RUN: %tile_run %s --entry=gates --target=emulate:sm_80 --persistent=always --seed=1 --check-against=interpret --out=%t.c.npy

#row = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#bias = affine_map<(d0, d1) -> (d1)>

// The inner sum follows the outer one. A bias is sliced along its own dimension, an operand that is indexed the other
// way round too.
// CHECK-LABEL: @gates
// CHECK: %[[a:.*]] = linalg.matmul
// CHECK: %[[b:.*]] = linalg.matmul
// CHECK: %[[a0:.*]] = tensor.extract_slice %[[a]][0, 0] [3, 5]
// CHECK: %[[b0:.*]] = tensor.extract_slice %[[b]][0, 0] [3, 5]
// CHECK: %[[sum:.*]] = linalg.generic {{.*}} ins(%[[a0]], %[[b0]] :
// CHECK: %[[bias:.*]] = tensor.extract_slice %{{.*}}[0] [5] [1] : tensor<11xf32> to tensor<5xf32>
// CHECK: %[[more:.*]] = tensor.extract_slice %{{.*}}[0, 0] [5, 3] [1, 1] : tensor<11x3xf32> to tensor<5x3xf32>
// CHECK: linalg.generic {{.*}} ins(%[[sum]], %[[bias]], %[[more]] :
// CHECK: tensor.extract_slice %[[a]][0, 5] [3, 5]
// CHECK: tensor.extract_slice %{{.*}}[5, 0] [5, 3] [1, 1] : tensor<11x3xf32> to tensor<5x3xf32>
// CHECK-NOT: tensor<3x11xf32>, tensor<11xf32>
func.func @gates(%x: tensor<3x7xf32>, %w: tensor<7x11xf32>, %h: tensor<3x4xf32>, %u: tensor<4x11xf32>,
                 %b: tensor<11xf32>, %m: tensor<11x3xf32>) -> tensor<3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x11xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x11xf32>) -> tensor<3x11xf32>
  %xw = linalg.matmul ins(%x, %w : tensor<3x7xf32>, tensor<7x11xf32>) outs(%z : tensor<3x11xf32>) -> tensor<3x11xf32>
  %hu = linalg.matmul ins(%h, %u : tensor<3x4xf32>, tensor<4x11xf32>) outs(%z : tensor<3x11xf32>) -> tensor<3x11xf32>
  %s = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%xw, %hu : tensor<3x11xf32>, tensor<3x11xf32>) outs(%e : tensor<3x11xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<3x11xf32>
  %t = linalg.generic {indexing_maps = [#row, #bias, #turned, #row], iterator_types = ["parallel", "parallel"]}
      ins(%s, %b, %m : tensor<3x11xf32>, tensor<11xf32>, tensor<11x3xf32>) outs(%e : tensor<3x11xf32>) {
  ^bb0(%p: f32, %q: f32, %k: f32, %o: f32):
    %r = arith.addf %p, %q : f32
    %n = arith.subf %r, %k : f32
    linalg.yield %n : f32
  } -> tensor<3x11xf32>
  %i = tensor.extract_slice %t[0, 0] [3, 5] [1, 1] : tensor<3x11xf32> to tensor<3x5xf32>
  %f = tensor.extract_slice %t[0, 5] [3, 5] [1, 1] : tensor<3x11xf32> to tensor<3x5xf32>
  %g = arith.mulf %i, %f : tensor<3x5xf32>
  return %g : tensor<3x5xf32>
}

// Left alone: one product, slices that overlap, another use, and an op that asks where its element is.
// CHECK-LABEL: @alone
// CHECK-COUNT-4: linalg.generic {{.*}} outs(%{{.*}} : tensor<3x8xf32>)
// CHECK-NOT: linalg.generic
func.func @alone(%x: tensor<3x8xf32>, %w: tensor<8x8xf32>, %u: tensor<8x8xf32>)
    -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x5xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x8xf32>,
        tensor<3x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x8xf32>) -> tensor<3x8xf32>
  %p = linalg.matmul ins(%x, %w : tensor<3x8xf32>, tensor<8x8xf32>) outs(%z : tensor<3x8xf32>) -> tensor<3x8xf32>
  %q = linalg.matmul ins(%x, %u : tensor<3x8xf32>, tensor<8x8xf32>) outs(%z : tensor<3x8xf32>) -> tensor<3x8xf32>
  %one = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p, %x : tensor<3x8xf32>, tensor<3x8xf32>) outs(%e : tensor<3x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x8xf32>
  %0 = tensor.extract_slice %one[0, 0] [3, 4] [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  %1 = tensor.extract_slice %one[0, 4] [3, 4] [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  %overlap = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<3x8xf32>, tensor<3x8xf32>) outs(%e : tensor<3x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x8xf32>
  %2 = tensor.extract_slice %overlap[0, 0] [3, 4] [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  %3 = tensor.extract_slice %overlap[0, 3] [3, 5] [1, 1] : tensor<3x8xf32> to tensor<3x5xf32>
  %whole = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<3x8xf32>, tensor<3x8xf32>) outs(%e : tensor<3x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x8xf32>
  %4 = tensor.extract_slice %whole[0, 0] [3, 4] [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  %5 = tensor.extract_slice %whole[0, 4] [3, 4] [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  %place = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p, %q : tensor<3x8xf32>, tensor<3x8xf32>) outs(%e : tensor<3x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %n = linalg.index 1 : index
    %k = arith.index_cast %n : index to i32
    %f = arith.sitofp %k : i32 to f32
    %s = arith.addf %a, %b : f32
    %r = arith.mulf %s, %f : f32
    linalg.yield %r : f32
  } -> tensor<3x8xf32>
  %6 = tensor.extract_slice %place[0, 0] [3, 4] [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  %7 = tensor.extract_slice %place[0, 4] [3, 4] [1, 1] : tensor<3x8xf32> to tensor<3x4xf32>
  return %0, %1, %2, %3, %4, %5, %whole, %6, %7 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x5xf32>, tensor<3x4xf32>,
      tensor<3x4xf32>, tensor<3x8xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}
