// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-check-kernel-places))' | FileCheck %s --check-prefix=PARTS
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-check-kernel-places{elements=true}))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(tile.kernel(tile-check-kernel-places{elements=true}))' | FileCheck %s

// PARTS-LABEL: @parts
// PARTS: %[[IS:.*]] = arith.cmpi ult, %arg2, %c9
// PARTS: tile.assert %[[IS]], "tile.slice: an index lies outside of dimension 0"
// PARTS: tile.slice
// PARTS: tile.assert {{.*}}"tile.insert: an index lies outside of dimension 0"
// PARTS: tile.insert
// PARTS-NOT: tile.assert
// PARTS: tile.return
// CHECK-LABEL: @parts
// CHECK-NOT: tile.assert
// CHECK: tile.return
tile.kernel private @parts(%a: memref<?xf32>, %c: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %A = tile.view %a : memref<?xf32> to !tile.view<16xf32>
  %C = tile.view %c : memref<?xf32> to !tile.view<16xf32>
  %x = tile.load %A[%c0] : !tile.view<16xf32> -> tensor<16xf32>
  %s = tile.slice %x[%n] : tensor<16xf32> -> tensor<8xf32>
  %y = tile.insert %s into %x[%n] : tensor<8xf32>, tensor<16xf32> -> tensor<16xf32>
  %r = arith.remui %n, %c8 : index
  %t = tile.slice %y[%r] : tensor<16xf32> -> tensor<8xf32>
  %z = tile.insert %t into %y[0] : tensor<8xf32>, tensor<16xf32> -> tensor<16xf32>
  tile.store %z, %C[%c0] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}

// The counter of a loop is compared once, ahead of the loop; another index where it is used; what the loop proves, never.
// CHECK-LABEL: @elements
// CHECK: %[[POSITIVE:.*]] = arith.cmpi sge, %arg3, %c0
// CHECK: %[[BELOW:.*]] = arith.cmpi sle, %arg4, %dim
// CHECK: %[[INSIDE:.*]] = arith.andi %[[POSITIVE]], %[[BELOW]]
// CHECK: %[[NONE:.*]] = arith.cmpi sge, %arg3, %arg4
// CHECK: %[[IS:.*]] = arith.ori %[[INSIDE]], %[[NONE]]
// CHECK: tile.assert %[[IS]], "memref.load: an index lies outside of dimension 0"
// CHECK: scf.for
// CHECK-NEXT: memref.load %arg0
// CHECK: arith.cmpi ult
// CHECK: tile.assert {{.*}}"memref.store: an index lies outside of dimension 0"
// CHECK: memref.store
// CHECK: }
// CHECK-NOT: tile.assert
// CHECK: tile.return
// PARTS-LABEL: @elements
// PARTS-NOT: tile.assert
// PARTS: tile.return
tile.kernel private @elements(%a: memref<?xindex>, %b: memref<?xf32>, %x: f32, %low: index, %high: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %low to %high step %c1 {
    %at = memref.load %a[%i] : memref<?xindex>
    memref.store %x, %b[%at] : memref<?xf32>
  }
  %n = memref.dim %b, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %b[%i] : memref<?xf32>
  }
  tile.return
}

// A fixed dimension counts where a tile is accessed. In a branch of its loop a counter is compared there.
// CHECK-LABEL: @fixed
// CHECK: tile.view
// CHECK-NOT: tile.assert
// CHECK: scf.if
// CHECK: tile.assert {{.*}}"tile.load: an index lies outside of dimension 0"
// CHECK: tile.load
tile.kernel private @fixed(%a: memref<?x?xf32>, %c: memref<?xf32>, %n: index, %is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %C = tile.view %c : memref<?xf32> to !tile.view<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    %A = tile.view %a[%i, _] : memref<?x?xf32> to !tile.view<16xf32>
    scf.if %is {
      %x = tile.load %A[%c0] : !tile.view<16xf32> -> tensor<16xf32>
      tile.store %x, %C[%c0] : tensor<16xf32>, !tile.view<16xf32>
    }
  }
  tile.return
}
