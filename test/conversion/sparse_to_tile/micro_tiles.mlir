// PIT's product along k: marks packed as csr are the list, slices of both factors are gathered by it, the product is linalg's.
// RUN: %tile_opt %s --convert-sparse-to-tile | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(convert-sparse-to-tile)' | FileCheck %s
// RUN: %tile_opt %s --convert-sparse-to-tile | not grep 'sparse\.'

// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[A:.*]]: tensor<64x128xf16>, %[[B:.*]]: tensor<128x32xf16>, %[[C:.*]]: tensor<64x32xf16>
// CHECK: %[[MARKS:.*]] = tile.launch @mark_columns
// CHECK: tile.launch @count_rows {{.*}}ins(%[[MARKS]]
// CHECK: %[[P:.*]] = tile.launch @positions
// CHECK: %[[L:.*]]:2 = tile.launch @pack_csr {{.*}}ins(%[[MARKS]], %[[P]]
// CHECK: %[[S:.*]] = tile.launch @sread_columns grid(%{{.*}}) ins(%[[A]], %[[L]]#0
// CHECK: %[[T:.*]] = tile.launch @sread_rows grid(%{{.*}}) ins(%[[B]], %[[L]]#0
// CHECK: linalg.matmul ins(%[[S]], %[[T]] : tensor<64x?xf16>, tensor<?x32xf16>) outs(%[[C]]
func.func @product(%a: tensor<64x128xf16>, %b: tensor<128x32xf16>, %c: tensor<64x32xf16>) -> tensor<64x32xf16> {
  %p, %l = sparse.detect %a along 1 by 8 : tensor<64x128xf16> -> tensor<2xi32>, tensor<?xi32>
  %s = sparse.sread %a[%l] along 1 by 8 : tensor<64x128xf16>, tensor<?xi32> -> tensor<64x?xf16>
  %t = sparse.sread %b[%l] along 0 by 8 : tensor<128x32xf16>, tensor<?xi32> -> tensor<?x32xf16>
  %r = linalg.matmul ins(%s, %t : tensor<64x?xf16>, tensor<?x32xf16>) outs(%c : tensor<64x32xf16>) -> tensor<64x32xf16>
  return %r : tensor<64x32xf16>
}

// Of a mask the mask is looked at and the values are not; written is into init.
// CHECK-LABEL: func.func @masked(
// CHECK-SAME: %[[M:[a-z0-9]*]]: tensor<2x128xi1>, %[[V:[a-z0-9]*]]: tensor<64x128xf32>, %{{.*}}, %[[C:[a-z0-9]*]]: tensor<64x128xf32>
// CHECK: tile.launch @mark_tiles{{.*}} ins(%[[M]], %
// CHECK-NOT: %[[V]]
// CHECK: tile.launch @swrite_columns{{.*}} outs(%[[C]] :
func.func @masked(%a: tensor<64x128xf32, #sparse.mask<tile = [32, 1]>>, %s: tensor<64x?xf32>, %c: tensor<64x128xf32>)
    -> (tensor<3xi64>, tensor<64x128xf32>) {
  %p, %l = sparse.detect %a along 1 lines 32 : tensor<64x128xf32, #sparse.mask<tile = [32, 1]>> -> tensor<3xi64>, tensor<?xi64>
  %r = sparse.swrite %s, %c[%l] along 1 : tensor<64x?xf32>, tensor<64x128xf32>, tensor<?xi64>
  return %p, %r : tensor<3xi64>, tensor<64x128xf32>
}
