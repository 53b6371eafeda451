// Folds of launches, transfers, assumptions and assertions.
// RUN: %tile_opt %s --canonicalize | FileCheck %s
// RUN: %mlir_opt_plugin %s --canonicalize | FileCheck %s

tile.kernel private @k(memref<?xf32>)

// CHECK-LABEL: func.func @empty_grid
// CHECK-SAME: (%[[Y:.*]]: tensor<?xf32>, %[[M:.*]]: memref<?xf32>, %[[N:.*]]: index)
func.func @empty_grid(%y: tensor<?xf32>, %m: memref<?xf32>, %n: index) -> tensor<?xf32> {
  // CHECK-NEXT: tile.launch @k grid(%[[N]]) outs(%[[M]] : memref<?xf32>)
  // CHECK-NEXT: return %[[Y]]
  %c0 = arith.constant 0 : index
  %r = tile.launch @k grid(%n, %c0) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  tile.launch @k grid(%c0) outs(%m : memref<?xf32>)
  tile.launch @k grid(%n) outs(%m : memref<?xf32>)
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @transfer
func.func @transfer(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NEXT: %[[A:.*]] = tile.transfer %{{.*}} to @device0
  // CHECK-NEXT: %[[B:.*]] = tile.transfer %[[A]] to @device1
  // CHECK-NEXT: return %[[B]]
  %a = tile.transfer %x to @device0 : tensor<?xf32>
  %b = tile.transfer %a to @device1 : tensor<?xf32>
  %c = tile.transfer %b to @device1 : tensor<?xf32>
  return %c : tensor<?xf32>
}

// CHECK-LABEL: tile.func @assume
// CHECK-SAME: (%[[X:.*]]: memref<16x8xf32>, %[[D:.*]]: memref<?x8xf32>, %[[N:.*]]: index)
tile.func @assume(%x: memref<16x8xf32>, %d: memref<?x8xf32>, %n: index)
    -> (memref<16x8xf32>, memref<?x8xf32>, memref<?x8xf32>, index, index, index) {
  // CHECK: %[[C:.*]] = arith.constant 24 : index
  // CHECK: %[[A:.*]] = tile.assume %[[D]] align 16
  // CHECK: %[[M:.*]] = tile.assume %[[N]] divisible 8
  // CHECK: tile.return %[[X]], %[[D]], %[[A]], %[[C]], %[[N]], %[[M]]
  %a = tile.assume %x sizes [8, _] strides [4, 1] : memref<16x8xf32>
  %b = tile.assume %d sizes [_, 4] strides [8, 1] : memref<?x8xf32>
  %c = tile.assume %d align 16 : memref<?x8xf32>
  %c24 = arith.constant 24 : index
  %e = tile.assume %c24 divisible 8 range [0, 100] : index
  %f = tile.assume %n divisible 1 : index
  %g = tile.assume %n divisible 8 : index
  %h = tile.assume %g divisible 8 : index
  tile.return %a, %b, %c, %e, %f, %h : memref<16x8xf32>, memref<?x8xf32>, memref<?x8xf32>, index, index, index
}

// CHECK-LABEL: tile.kernel @assert
tile.kernel @assert(%c: i1) {
  // CHECK-NEXT: tile.assert %{{.*}}, "kept"
  // CHECK-NEXT: tile.return
  %true = arith.constant true
  %all = arith.constant dense<true> : tensor<4xi1>
  tile.assert %true, "gone" : i1
  tile.assert %all, "gone" : tensor<4xi1>
  tile.assert %c, "kept" : i1
  tile.return
}
