// RUN: %tile_opt %s --pass-pipeline="builtin.module(func.func(tile-split-ragged-blocks))" | FileCheck %s

#nk = affine_map<(n, g, k) -> (n, g, k)>
#ng = affine_map<(n, g, k) -> (n, g)>
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>
#r = affine_map<(n, k) -> (n, k)>

// Two blocks of 32, and 16 elements of the third one. No padding is left.
// CHECK-LABEL: func.func @blocks
// CHECK-SAME: (%[[W:.*]]: tensor<8x80xi8>, %[[S:.*]]: tensor<8x3xf32>, %[[X:.*]]: tensor<2x80xf32>, %[[C:.*]]: tensor<2x8xf32>)
// CHECK: %[[X0:.*]] = tensor.extract_slice %[[X]][0, 0] [2, 64] [1, 1]
// CHECK: %[[W0:.*]] = tensor.extract_slice %[[W]][0, 0] [8, 64] [1, 1]
// CHECK: tensor.expand_shape %[[W0]] {{.*}} output_shape [8, 2, 32]
// CHECK: tensor.extract_slice %[[S]][0, 0] [8, 2] [1, 1]
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X0]], {{.*}} : tensor<2x64xf32>, tensor<8x64xf32>) outs(%[[C]]
// CHECK: %[[X1:.*]] = tensor.extract_slice %[[X]][0, 64] [2, 16] [1, 1]
// CHECK: %[[W1:.*]] = tensor.extract_slice %[[W]][0, 64] [8, 16] [1, 1]
// CHECK: tensor.expand_shape %[[W1]] {{.*}} output_shape [8, 1, 16]
// CHECK: tensor.extract_slice %[[S]][0, 2] [8, 1] [1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[X1]], {{.*}} : tensor<2x16xf32>, tensor<8x16xf32>) outs(%[[Y]]
func.func @blocks(%w: tensor<8x80xi8>, %s: tensor<8x3xf32>, %x: tensor<2x80xf32>, %c: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %zero = arith.constant 0 : i8
  %p = tensor.pad %w low[0, 0] high[0, 16] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : i8
  } : tensor<8x80xi8> to tensor<8x96xi8>
  %q = tensor.expand_shape %p [[0], [1, 2]] output_shape [8, 3, 32] : tensor<8x96xi8> into tensor<8x3x32xi8>
  %e = tensor.empty() : tensor<8x3x32xf32>
  %d = linalg.generic {indexing_maps = [#nk, #ng, #nk], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %s : tensor<8x3x32xi8>, tensor<8x3xf32>) outs(%e : tensor<8x3x32xf32>) {
  ^bb0(%a: i8, %b: f32, %o: f32):
    %f = arith.sitofp %a : i8 to f32
    %m = arith.mulf %f, %b : f32
    linalg.yield %m : f32
  } -> tensor<8x3x32xf32>
  %j = tensor.collapse_shape %d [[0], [1, 2]] : tensor<8x3x32xf32> into tensor<8x96xf32>
  %k = tensor.extract_slice %j[0, 0] [8, 80] [1, 1] : tensor<8x96xf32> to tensor<8x80xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %k : tensor<2x80xf32>, tensor<8x80xf32>) outs(%c : tensor<2x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// Elements of 6 bits, four in three bytes: 12 of them, and one from a run that the slice cuts.
// CHECK-LABEL: func.func @bits
// CHECK-SAME: (%[[P:.*]]: tensor<8x12xi8>
// CHECK: %[[P0:.*]] = tensor.extract_slice %[[P]][0, 0] [8, 9] [1, 1]
// CHECK: tile.bitcast %[[P0]] : tensor<8x9xi8> -> tensor<8x12xf6E2M3FN>
// CHECK: %[[P1:.*]] = tensor.extract_slice %[[P]][0, 9] [8, 3] [1, 1]
// CHECK: %[[W1:.*]] = tile.bitcast %[[P1]] : tensor<8x3xi8> -> tensor<8x4xf6E2M3FN>
// CHECK: tensor.extract_slice %[[W1]][0, 0] [8, 1] [1, 1]
func.func @bits(%p: tensor<8x12xi8>, %x: tensor<2x13xf32>, %c: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %all = tile.bitcast %p : tensor<8x12xi8> -> tensor<8x16xf6E2M3FN>
  %w = tensor.extract_slice %all[0, 0] [8, 13] [1, 1] : tensor<8x16xf6E2M3FN> to tensor<8x13xf6E2M3FN>
  %e = tensor.empty() : tensor<8x13xf32>
  %d = linalg.generic {indexing_maps = [#r, #r], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<8x13xf6E2M3FN>) outs(%e : tensor<8x13xf32>) {
  ^bb0(%a: f6E2M3FN, %o: f32):
    %f = arith.extf %a : f6E2M3FN to f32
    linalg.yield %f : f32
  } -> tensor<8x13xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %d : tensor<2x13xf32>, tensor<8x13xf32>) outs(%c : tensor<2x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// Nothing is converted from fewer bits: one product.
// CHECK-LABEL: func.func @dense
// CHECK-COUNT-1: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-NOT: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: return
func.func @dense(%w: tensor<8x3x32xf32>, %x: tensor<2x80xf32>, %c: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %j = tensor.collapse_shape %w [[0], [1, 2]] : tensor<8x3x32xf32> into tensor<8x96xf32>
  %k = tensor.extract_slice %j[0, 0] [8, 80] [1, 1] : tensor<8x96xf32> to tensor<8x80xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %k : tensor<2x80xf32>, tensor<8x80xf32>) outs(%c : tensor<2x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %o, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// A sum of 16 bits would be rounded once more.
// CHECK-LABEL: func.func @half
// CHECK-COUNT-1: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-NOT: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: return
func.func @half(%p: tensor<8x12xi8>, %x: tensor<2x13xf16>, %c: tensor<2x8xf16>) -> tensor<2x8xf16> {
  %all = tile.bitcast %p : tensor<8x12xi8> -> tensor<8x16xf6E2M3FN>
  %w = tensor.extract_slice %all[0, 0] [8, 13] [1, 1] : tensor<8x16xf6E2M3FN> to tensor<8x13xf6E2M3FN>
  %e = tensor.empty() : tensor<8x13xf16>
  %d = linalg.generic {indexing_maps = [#r, #r], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<8x13xf6E2M3FN>) outs(%e : tensor<8x13xf16>) {
  ^bb0(%a: f6E2M3FN, %o: f16):
    %f = arith.extf %a : f6E2M3FN to f16
    linalg.yield %f : f16
  } -> tensor<8x13xf16>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %d : tensor<2x13xf16>, tensor<8x13xf16>) outs(%c : tensor<2x8xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %m = arith.mulf %a, %b : f16
    %t = arith.addf %o, %m : f16
    linalg.yield %t : f16
  } -> tensor<2x8xf16>
  return %r : tensor<2x8xf16>
}
