// Rows by group: a launch lists them and a launch multiplies, which gathers and scatters rows itself. A zero init that
// the lists cover is not written first. Results: test/run/sparse/routing.test.
// RUN: %tile_opt %s --convert-sparse-to-tile=chip=x86-64-v4 | FileCheck %s
// RUN: %tile_opt %s --convert-sparse-to-tile=chip=sm_80 | FileCheck %s --check-prefix=GPU

// CHECK-LABEL: func.func @zero(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<64x32xf32>, %[[W:[a-z0-9]*]]: tensor<8x32x48xf32>, %[[N:[a-z0-9]*]]: tensor<64xi64>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<64x48xf32>
// CHECK: %[[L:.*]]:2 = tile.launch @list_groups grid(%{{.*}}) ins(%[[N]]
// CHECK: tile.launch @grouped_packed{{.*}} ins(%[[X]], %[[W]], %[[L]]#0, %[[L]]#1 : {{.*}}) outs(%[[E]] :
// GPU-LABEL: func.func @zero(
// GPU: tile.launch @list_groups
// GPU: tile.launch @grouped_tiles
func.func @zero(%x: tensor<64x32xf32>, %w: tensor<8x32x48xf32>, %n: tensor<64xi64>) -> tensor<64x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p, %c = sparse.group %n : tensor<64xi64> -> tensor<9xi32>, tensor<64xi32>
  %r = sparse.grouped_matmul %x gather 1, %w, %f scatter by(%p, %c)
    : tensor<64x32xf32>, tensor<8x32x48xf32>, tensor<64x48xf32>, tensor<9xi32>, tensor<64xi32>
  return %r : tensor<64x48xf32>
}

// Some rows are in no group, and very many groups are listed by one program.
// CHECK-LABEL: func.func @partial(
// CHECK: %[[F:.*]] = linalg.fill
// CHECK: tile.launch @sort_groups
// CHECK: tile.launch @grouped_packed{{.*}} outs(%[[F]] :
func.func @partial(%x: tensor<64x4xf32>, %w: tensor<2000x4x8xf32>, %n: tensor<64xi64>) -> tensor<64x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x8xf32>) -> tensor<64x8xf32>
  %p, %c = sparse.group %n partial : tensor<64xi64> -> tensor<2001xi32>, tensor<64xi32>
  %r = sparse.grouped_matmul %x gather 1, %w, %f scatter by(%p, %c)
    : tensor<64x4xf32>, tensor<2000x4x8xf32>, tensor<64x8xf32>, tensor<2001xi32>, tensor<64xi32>
  return %r : tensor<64x8xf32>
}
