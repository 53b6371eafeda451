// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-reduce-atomics))' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-reduce-atomics))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT
// COUNT: tile-reduce-atomics: 2 reduced

// The sum is carried and added once; -0.0 adds nothing, even to -0.0.
// CHECK-LABEL: tile.kernel @sum
// CHECK: %[[none:.*]] = arith.constant dense<-0.000000e+00> : tensor<64xf32>
// CHECK: %[[r:.*]] = scf.for {{.*}} iter_args(%[[s:.*]] = %[[none]])
// CHECK-NEXT: %[[x:.*]] = tile.load
// CHECK-NEXT: %[[t:.*]] = arith.addf %[[s]], %[[x]]
// CHECK-NEXT: scf.yield %[[t]]
// CHECK: tile.store %[[r]], {{.*}} combine(add)
tile.kernel @sum(%a: memref<?xf32>, %c: memref<?xf32> {llvm.noalias}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = tile.view %a : memref<?xf32> to !tile.view<64xf32>
  %C = tile.view %c : memref<?xf32> to !tile.view<64xf32>
  scf.for %k = %c0 to %n step %c1 {
    %x = tile.load %A[%k] : !tile.view<64xf32> -> tensor<64xf32>
    tile.store %x, %C[%c0] combine(add) : tensor<64xf32>, !tile.view<64xf32>
  }
  tile.return
}

// Integers; two loops deep, out of the inner one whose place is fixed, not out of the outer one that moves it.
// CHECK-LABEL: tile.kernel @inner
// CHECK: scf.for
// CHECK: arith.constant dense<0> : tensor<64xi32>
// CHECK: scf.for
// CHECK: arith.addi
// CHECK: tile.store {{.*}} combine(add)
tile.kernel @inner(%a: memref<?xi32>, %c: memref<?xi32> {llvm.noalias}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = tile.view %a : memref<?xi32> to !tile.view<64xi32>
  %C = tile.view %c : memref<?xi32> to !tile.view<64xi32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %x = tile.load %A[%k] : !tile.view<64xi32> -> tensor<64xi32>
      tile.store %x, %C[%i] combine(add) : tensor<64xi32>, !tile.view<64xi32>
    }
  }
  tile.return
}

// Not a sum; a place that moves; memory that the loop also reads.
// CHECK-LABEL: tile.kernel @others
// CHECK-COUNT-3: scf.for %{{[a-z0-9]*}} = %c0 to %{{.*}} step %c1 {
tile.kernel @others(%a: memref<?xf32>, %c: memref<?xf32> {llvm.noalias}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = tile.view %a : memref<?xf32> to !tile.view<64xf32>
  %C = tile.view %c : memref<?xf32> to !tile.view<64xf32>
  scf.for %k = %c0 to %n step %c1 {
    %x = tile.load %A[%k] : !tile.view<64xf32> -> tensor<64xf32>
    tile.store %x, %C[%c0] combine(max) : tensor<64xf32>, !tile.view<64xf32>
  }
  scf.for %k = %c0 to %n step %c1 {
    %x = tile.load %A[%k] : !tile.view<64xf32> -> tensor<64xf32>
    tile.store %x, %C[%k] combine(add) : tensor<64xf32>, !tile.view<64xf32>
  }
  scf.for %k = %c0 to %n step %c1 {
    %x = tile.load %C[%k] : !tile.view<64xf32> -> tensor<64xf32>
    tile.store %x, %C[%c0] combine(add) : tensor<64xf32>, !tile.view<64xf32>
  }
  tile.return
}

// Memory that may be what the loop reads.
// CHECK-LABEL: tile.kernel @perhaps
// CHECK: scf.for %{{[a-z0-9]*}} = %c0 to %{{.*}} step %c1 {
// CHECK: tile.store {{.*}} combine(add)
// CHECK-NEXT: }
tile.kernel @perhaps(%a: memref<?xf32>, %c: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = tile.view %a : memref<?xf32> to !tile.view<64xf32>
  %C = tile.view %c : memref<?xf32> to !tile.view<64xf32>
  scf.for %k = %c0 to %n step %c1 {
    %x = tile.load %A[%k] : !tile.view<64xf32> -> tensor<64xf32>
    tile.store %x, %C[%c0] combine(add) : tensor<64xf32>, !tile.view<64xf32>
  }
  tile.return
}
