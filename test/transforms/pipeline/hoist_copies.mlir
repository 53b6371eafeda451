// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-hoist-copies))' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-hoist-copies))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT
// COUNT: tile-hoist-copies: 3 hoisted

// The same tile in every round of both loops leaves both; what follows the loop's variable stays.
// CHECK-LABEL: tile.kernel @both
// CHECK: %[[w:.*]] = tile.load
// CHECK: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile.load
// CHECK-NEXT: arith.mulf %{{.*}}, %[[w]]
tile.kernel @both(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %A = tile.view %a : memref<?xf32> to !tile.view<64xf32>
  %C = tile.view %c : memref<?xf32> to !tile.view<64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<64xf32>) {
    %q = scf.for %k = %c0 to %n step %c1 iter_args(%t = %s) -> (tensor<64xf32>) {
      %B = tile.view %b : memref<?xf32> to !tile.view<64xf32>
      %w = tile.load %B[%c1] : !tile.view<64xf32> -> tensor<64xf32>
      %x = tile.load %A[%k] : !tile.view<64xf32> -> tensor<64xf32>
      %p = arith.mulf %x, %w : tensor<64xf32>
      %u = arith.addf %p, %t : tensor<64xf32>
      scf.yield %u : tensor<64xf32>
    }
    scf.yield %q : tensor<64xf32>
  }
  tile.store %r, %C[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}

// A copy into a local buffer moves too, as long as nothing else writes.
// CHECK-LABEL: tile.kernel @packed
// CHECK: tile.copy
// CHECK: scf.for
tile.kernel @packed(%a: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = tile.view %a : memref<?xf32> to !tile.view<64xf32>
  %B = tile.alloc : !tile.buffer<64xf32, #tile.layout<offset [64:d0]>, local>
  scf.for %k = %c0 to %n step %c1 {
    tile.copy %A[%c0] to %B : !tile.view<64xf32> to !tile.buffer<64xf32, #tile.layout<offset [64:d0]>, local>
    %x = tile.load %B : !tile.buffer<64xf32, #tile.layout<offset [64:d0]>, local> -> tensor<64xf32>
  }
  tile.return
}

// A loop that writes memory may change what it loads.
// CHECK-LABEL: tile.kernel @writes
// CHECK: scf.for
// CHECK-NEXT: tile.load
tile.kernel @writes(%a: memref<?xf32>, %c: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = tile.view %a : memref<?xf32> to !tile.view<64xf32>
  %C = tile.view %c : memref<?xf32> to !tile.view<64xf32>
  scf.for %k = %c0 to %n step %c1 {
    %x = tile.load %A[%c0] : !tile.view<64xf32> -> tensor<64xf32>
    tile.store %x, %C[%k] : tensor<64xf32>, !tile.view<64xf32>
  }
  tile.return
}
