// Loops over levels: which level a loop walks, which are merged, which searched.
// RUN: %tile_opt %s --convert-sparse-tensor-to-tile --canonicalize --cse --split-input-file | FileCheck %s
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>

// Rows that are stored, and in each what is stored; the sum goes through the inner loop.
// CHECK-LABEL: tile.kernel private @contract_levels(
// CHECK: scf.for %[[P:.*]] =
// CHECK: memref.load %arg1[%[[P]]]
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: scf.while
// CHECK: memref.store
func.func @sums(%a: tensor<8x8xf32, #DCSR>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x8xf32, #DCSR>) outs(%y : tensor<8xf32>) {
  ^bb0(%e: f32, %s: f32):
    %t = arith.addf %e, %s : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// A product of two is where both are: two merges, each entered only where coordinates meet.
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
// CHECK-LABEL: tile.kernel private @contract_levels(
// CHECK: scf.while
// CHECK: scf.if
// CHECK: scf.while
// CHECK: scf.if
// CHECK: arith.mulf
// CHECK-NOT: scf.while
func.func @both(%a: tensor<8x8xf32, #DCSR>, %b: tensor<8x8xf32, #DCSR>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<8x8xf32, #DCSR>, tensor<8x8xf32, #DCSR>) outs(%y : tensor<8x8xf32>) {
  ^bb0(%e: f32, %f: f32, %s: f32):
    %t = arith.mulf %e, %f : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

// A dense function stays.
// CHECK-LABEL: func.func @dense(
// CHECK-NEXT: return
func.func @dense(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
