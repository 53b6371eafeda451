// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-pipeline-loops{stages=3}))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-pipeline-loops{stages=1}))' | FileCheck %s --check-prefix=ONE
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-pipeline-loops{stages=3}))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT

// COUNT-DAG: tile-pipeline-loops: 3 pipelined
// COUNT-DAG: tile-pipeline-loops: 4 rings
// COUNT-DAG: tile-pipeline-loops: 6144 ring_bytes
// COUNT-DAG: tile-pipeline-loops: 1 prefetched
// ONE-NOT: tile.slot

// Two rounds of copies before the loop, one in it, for the round after next; one wait and one sync a round; what is still
// under way is waited for behind the loop. The round is (k - lower) / step.
#lhs = #tile.layout<reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]>
#rhs = #tile.layout<reg [2:d0, 2:d0*8, 2:d1*8], lane [4:d0*2, 8:d1]>
#acc = #tile.layout<reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]>
#rows = #tile.layout<offset [16:d1, 16:d0]>
// CHECK-LABEL: tile.kernel @ring
// CHECK: %[[B:.*]] = tile.alloc : {{.*}}buffer
// CHECK: %[[A:.*]] = tile.alloc : {{.*}}buffer
// CHECK-NOT: tile.alloc
// CHECK-COUNT-4: tile.copy_async
// CHECK-NOT: tile.sync
// CHECK: %[[r:.*]]:3 = scf.for %[[k:.*]] = %c1 to {{.*}} step %c2 iter_args(%[[s:.*]] = %{{.*}}, %[[now:.*]] = %{{.*}}, %[[next:.*]] = %{{.*}})
// CHECK-NEXT: tile.wait %[[now]]
// CHECK-NEXT: tile.sync
// CHECK: %[[distance:.*]] = arith.subi %[[k]], %c1
// CHECK: %[[round:.*]] = arith.divui %[[distance]], %c2
// CHECK-COUNT-2: tile.copy_async
// CHECK: %[[new:.*]] = tile.join
// CHECK: %[[b:.*]] = tile.slot %{{.*}}[%[[round]]]
// CHECK-NOT: tile.sync
// CHECK: tile.mma
// CHECK: scf.yield %{{.*}}, %[[next]], %[[new]]
// CHECK: tile.wait %[[r]]#1, %[[r]]#2
tile.kernel @ring(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<16x16xf32>, %n: index)
    attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #acc>
  %As = tile.alloc : !tile.buffer<16x16xf16, #rows, shared>
  %Bs = tile.alloc : !tile.buffer<16x16xf16, #rows, shared>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<16x16xf16>
  %B = tile.view %b : memref<?x?xf16> to !tile.view<16x16xf16>
  %C = tile.view %c : memref<16x16xf32> to !tile.view<16x16xf32>
  %r = scf.for %k = %c1 to %n step %c2 iter_args(%s = %zero) -> (tensor<16x16xf32, #acc>) {
    %k1 = arith.addi %k, %c1 : index
    tile.sync
    %ta = tile.copy_async %A[%c0, %k] to %As : !tile.view<16x16xf16> to !tile.buffer<16x16xf16, #rows, shared>
    %tb = tile.copy_async %B[%k1, %c0] to %Bs : !tile.view<16x16xf16> to !tile.buffer<16x16xf16, #rows, shared>
    tile.wait %ta, %tb
    tile.sync
    %x = tile.load %As : !tile.buffer<16x16xf16, #rows, shared> -> tensor<16x16xf16, #lhs>
    %w = tile.load %Bs : !tile.buffer<16x16xf16, #rows, shared> -> tensor<16x16xf16, #rhs>
    %m = tile.mma %x, %w, %s atom "mma.sync.m16n8k16" : tensor<16x16xf16, #lhs>, tensor<16x16xf16, #rhs> -> tensor<16x16xf32, #acc>
    scf.yield %m : tensor<16x16xf32, #acc>
  }
  tile.store %r, %C[%c0, %c0] : tensor<16x16xf32, #acc>, !tile.view<16x16xf32>
  tile.return
}

// -----

// Without asynchronous copies the next round is loaded into registers behind the sync, before the product.
#wide = #tile.layout<reg [8:d1], lane [2:d1*8, 16:d0]>
#lhs = #tile.layout<reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]>
#rows = #tile.layout<offset [16:d1, 16:d0]>
// CHECK-LABEL: tile.kernel @registers
// CHECK: %[[first:.*]] = tile.load %{{.*}}[%c0, %c0]
// CHECK: scf.for %[[k:.*]] = %c0 to {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[x:.*]] = %[[first]])
// CHECK-NEXT: tile.sync
// CHECK-NEXT: tile.store %[[x]]
// CHECK-NEXT: tile.sync
// CHECK-NEXT: %[[ahead:.*]] = arith.addi %[[k]], %c1
// CHECK-NEXT: %[[next:.*]] = tile.load %{{.*}}[%c0, %[[ahead]]]
// CHECK-NEXT: tile.load %{{.*}} : {{.*}}buffer
// CHECK: scf.yield %{{.*}}, %[[next]]
tile.kernel @registers(%a: memref<?x?xf16>, %c: memref<16x16xf16>, %n: index)
    attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf16, #lhs>
  %As = tile.alloc : !tile.buffer<16x16xf16, #rows, shared>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<16x16xf16>
  %C = tile.view %c : memref<16x16xf16> to !tile.view<16x16xf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<16x16xf16, #lhs>) {
    tile.sync
    %y = tile.load %A[%c0, %k] : !tile.view<16x16xf16> -> tensor<16x16xf16, #wide>
    tile.store %y, %As : tensor<16x16xf16, #wide>, !tile.buffer<16x16xf16, #rows, shared>
    tile.sync
    %x = tile.load %As : !tile.buffer<16x16xf16, #rows, shared> -> tensor<16x16xf16, #lhs>
    %m = arith.addf %x, %s : tensor<16x16xf16, #lhs>
    scf.yield %m : tensor<16x16xf16, #lhs>
  }
  tile.store %r, %C[%c0, %c0] : tensor<16x16xf16, #lhs>, !tile.view<16x16xf16>
  tile.return
}

// -----

// Left alone: the copy's place is known only when the round before has been computed; and a loop that writes memory.
#wide = #tile.layout<reg [8:d1], lane [2:d1*8, 16:d0]>
#rows = #tile.layout<offset [16:d1, 16:d0]>
// CHECK-LABEL: tile.kernel @dependent
// CHECK-NOT: tile.slot
tile.kernel @dependent(%a: memref<?x?xf16>, %next: memref<?xindex>, %n: index)
    attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %As = tile.alloc : !tile.buffer<16x16xf16, #rows, shared>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<16x16xf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%at = %c0) -> (index) {
    %ta = tile.copy_async %A[%c0, %at] to %As : !tile.view<16x16xf16> to !tile.buffer<16x16xf16, #rows, shared>
    tile.wait %ta
    tile.sync
    %x = tile.load %As : !tile.buffer<16x16xf16, #rows, shared> -> tensor<16x16xf16, #wide>
    tile.sync
    %after = memref.load %next[%at] : memref<?xindex>
    scf.yield %after : index
  }
  scf.for %k = %c0 to %n step %c1 {
    %ta = tile.copy_async %A[%c0, %k] to %As : !tile.view<16x16xf16> to !tile.buffer<16x16xf16, #rows, shared>
    tile.wait %ta
    tile.sync
    %x = tile.load %As : !tile.buffer<16x16xf16, #rows, shared> -> tensor<16x16xf16, #wide>
    tile.sync
    %k1 = arith.addi %k, %c1 : index
    tile.store %x, %A[%c0, %k1] : tensor<16x16xf16, #wide>, !tile.view<16x16xf16>
  }
  tile.return
}

// -----

// The loop runs again and again: its first copies wait until all have read what the last run left in the ring.
#wide = #tile.layout<reg [8:d1], lane [2:d1*8, 16:d0]>
#rows = #tile.layout<offset [16:d1, 16:d0]>
// CHECK-LABEL: tile.kernel @nested
// CHECK: scf.for
// CHECK-NEXT: tile.sync
// CHECK-COUNT-2: tile.copy_async
// CHECK: scf.for
tile.kernel @nested(%a: memref<?x?xf16>, %n: index) attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %As = tile.alloc : !tile.buffer<16x16xf16, #rows, shared>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<16x16xf16>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      tile.sync
      %ta = tile.copy_async %A[%i, %k] to %As : !tile.view<16x16xf16> to !tile.buffer<16x16xf16, #rows, shared>
      tile.wait %ta
      tile.sync
      %x = tile.load %As : !tile.buffer<16x16xf16, #rows, shared> -> tensor<16x16xf16, #wide>
    }
  }
  tile.return
}

// -----

// What is copied is read from a list: numbers that may be read ahead are, others are not (stages=3: two rounds).
#part = #tile.layout<reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]>
#rows = #tile.layout<offset [16:d1, 16:d0]>
// CHECK-LABEL: tile.kernel @listed
// CHECK-COUNT-2: memref.load {{.*}} {tile.rounds_ahead = 2
// CHECK: scf.for %[[K:.*]] = %c0
// CHECK: %[[LATER:.*]] = arith.addi %[[K]],
// CHECK: %[[AT:.*]] = memref.load %{{.*}}[%[[LATER]]] {tile.rounds_ahead = 2
// CHECK: tile.copy_async %{{.*}}[%c0, %[[AT]]]
tile.kernel @listed(%a: memref<?x?xf16>, %list: memref<?xindex>, %c: memref<16x16xf16>, %n: index)
    attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf16, #part>
  %As = tile.alloc : !tile.buffer<16x16xf16, #rows, shared>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<16x16xf16>
  %C = tile.view %c : memref<16x16xf16> to !tile.view<16x16xf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<16x16xf16, #part>) {
    %at = memref.load %list[%k] {tile.rounds_ahead = 2 : i64} : memref<?xindex>
    tile.sync
    %t = tile.copy_async %A[%c0, %at] to %As : !tile.view<16x16xf16> to !tile.buffer<16x16xf16, #rows, shared>
    tile.wait %t
    tile.sync
    %x = tile.load %As : !tile.buffer<16x16xf16, #rows, shared> -> tensor<16x16xf16, #part>
    %m = arith.addf %x, %s : tensor<16x16xf16, #part>
    scf.yield %m : tensor<16x16xf16, #part>
  }
  tile.store %r, %C[%c0, %c0] : tensor<16x16xf16, #part>, !tile.view<16x16xf16>
  tile.return
}

// -----

#part = #tile.layout<reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]>
#rows = #tile.layout<offset [16:d1, 16:d0]>
// CHECK-LABEL: tile.kernel @too_near
// CHECK-NOT: tile.slot
tile.kernel @too_near(%a: memref<?x?xf16>, %list: memref<?xindex>, %c: memref<16x16xf16>, %n: index)
    attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf16, #part>
  %As = tile.alloc : !tile.buffer<16x16xf16, #rows, shared>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<16x16xf16>
  %C = tile.view %c : memref<16x16xf16> to !tile.view<16x16xf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<16x16xf16, #part>) {
    %at = memref.load %list[%k] {tile.rounds_ahead = 1 : i64} : memref<?xindex>
    tile.sync
    %t = tile.copy_async %A[%c0, %at] to %As : !tile.view<16x16xf16> to !tile.buffer<16x16xf16, #rows, shared>
    tile.wait %t
    tile.sync
    %x = tile.load %As : !tile.buffer<16x16xf16, #rows, shared> -> tensor<16x16xf16, #part>
    %m = arith.addf %x, %s : tensor<16x16xf16, #part>
    scf.yield %m : tensor<16x16xf16, #part>
  }
  tile.store %r, %C[%c0, %c0] : tensor<16x16xf16, #part>, !tile.view<16x16xf16>
  tile.return
}
