// What may be merged, dropped and moved: pure ops and launches on tensors; loads as long as nothing writes in between.
// RUN: %tile_opt %s --pass-pipeline="builtin.module(cse,canonicalize)" | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline="builtin.module(cse,canonicalize)" | FileCheck %s
// RUN: %tile_opt %s --loop-invariant-code-motion | FileCheck %s --check-prefix=LICM
// RUN: %mlir_opt_plugin %s --loop-invariant-code-motion | FileCheck %s --check-prefix=LICM

#o = #tile.layout<offset [8:d0]>
tile.kernel private @k(memref<?xf32>, memref<?xf32>)

// CHECK-LABEL: tile.func @pure
tile.func @pure(%x: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK: %[[D:.*]] = tile.mma
  // CHECK-NEXT: tile.return %[[D]], %[[D]]
  %a = tile.mma %x, %x, %z : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %b = tile.mma %x, %x, %z : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %dead = tile.transpose %x [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  tile.return %a, %b : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: tile.func @loads
tile.func @loads(%v: !tile.view<8xf32>, %i: index) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[A:.*]] = tile.load
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: %[[B:.*]] = tile.load
  // CHECK-NEXT: tile.return %[[A]], %[[A]], %[[B]]
  %a = tile.load %v[%i] : !tile.view<8xf32> -> tensor<8xf32>
  %b = tile.load %v[%i] : !tile.view<8xf32> -> tensor<8xf32>
  %dead = tile.load %v[%i] : !tile.view<8xf32> -> tensor<8xf32>
  tile.store %b, %v[%i] : tensor<8xf32>, !tile.view<8xf32>
  %c = tile.load %v[%i] : !tile.view<8xf32> -> tensor<8xf32>
  tile.return %a, %b, %c : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A gather from memory is a load, one from a tile is pure.
// CHECK-LABEL: tile.func @gathers
tile.func @gathers(%m: memref<?xf32>, %x: tensor<8xf32>, %r: tensor<8xi32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[A:.*]] = tile.gather %{{.*}} bounds(drop)
  // CHECK-NEXT: %[[P:.*]] = tile.gather %{{.*}} axis 0
  // CHECK-NEXT: tile.scatter
  // CHECK-NEXT: %[[B:.*]] = tile.gather %{{.*}} bounds(drop)
  // CHECK-NEXT: tile.return %[[A]], %[[P]], %[[B]], %[[P]]
  %a = tile.gather %m[%r] bounds(drop) : memref<?xf32>[tensor<8xi32>] -> tensor<8xf32>
  %p = tile.gather %x[%r] axis 0 bounds(trap) : tensor<8xf32>[tensor<8xi32>] -> tensor<8xf32>
  tile.scatter %x, %m[%r] bounds(drop) : tensor<8xf32>, memref<?xf32>[tensor<8xi32>]
  %b = tile.gather %m[%r] bounds(drop) : memref<?xf32>[tensor<8xi32>] -> tensor<8xf32>
  %q = tile.gather %x[%r] axis 0 bounds(trap) : tensor<8xf32>[tensor<8xi32>] -> tensor<8xf32>
  tile.return %a, %p, %b, %q : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Nothing merges across what waits, synchronizes or fences; nothing of it is dead, nor are hints and prints.
// CHECK-LABEL: tile.kernel @ordered
tile.kernel @ordered(%m: memref<?xf32>, %i: index) {
  // CHECK: tile.load
  // CHECK-NEXT: tile.sync
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.barrier_wait
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.fence acquire device
  // CHECK-NEXT: tile.load
  // CHECK: tile.prefetch
  // CHECK-NEXT: tile.print
  // CHECK-NEXT: tile.return
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  %f = tile.alloc : !tile.barrier<1>
  %w = tile.load %v[%i] : !tile.view<8xf32> -> tensor<8xf32>
  tile.sync
  %x = tile.load %v[%i] : !tile.view<8xf32> -> tensor<8xf32>
  tile.barrier_wait %f[%i] : !tile.barrier<1>
  %y = tile.load %v[%i] : !tile.view<8xf32> -> tensor<8xf32>
  tile.fence acquire device
  %z = tile.load %v[%i] : !tile.view<8xf32> -> tensor<8xf32>
  %a = arith.addf %w, %x : tensor<8xf32>
  %b = arith.addf %y, %z : tensor<8xf32>
  %c = arith.addf %a, %b : tensor<8xf32>
  tile.store %c, %v[%i] : tensor<8xf32>, !tile.view<8xf32>
  tile.prefetch %v[%i] : !tile.view<8xf32>
  tile.print "{}", %i : index
  tile.return
}

// A loop may wait for a flag: no two atomic loads are one.
// CHECK-LABEL: tile.func @atomics
tile.func @atomics(%m: memref<?xi32>, %i: index) -> (i32, i32) {
  // CHECK-COUNT-2: tile.atomic_load
  %a = tile.atomic_load %m[%i] relaxed device : memref<?xi32> -> i32
  %b = tile.atomic_load %m[%i] relaxed device : memref<?xi32> -> i32
  tile.return %a, %b : i32, i32
}

// An allocation that nobody uses is dead; two are not one.
// CHECK-LABEL: tile.func @allocations
tile.func @allocations(%x: tensor<8xf32>) {
  // CHECK-COUNT-2: tile.alloc
  // CHECK-NOT: tile.alloc
  %a = tile.alloc : !tile.buffer<8xf32, #o, local>
  %b = tile.alloc : !tile.buffer<8xf32, #o, local>
  %dead = tile.alloc : !tile.buffer<8xf32, #o, local>
  tile.store %x, %a : tensor<8xf32>, !tile.buffer<8xf32, #o, local>
  tile.store %x, %b : tensor<8xf32>, !tile.buffer<8xf32, #o, local>
  tile.return
}

// CHECK-LABEL: func.func @launches_on_tensors
func.func @launches_on_tensors(%n: index, %x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK-NEXT: %[[R:.*]] = tile.launch @k
  // CHECK-NEXT: return %[[R]], %[[R]]
  %a = tile.launch @k grid(%n) ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  %b = tile.launch @k grid(%n) ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  %dead = tile.launch @k grid(%n) ins(%y : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @launches_on_memrefs
func.func @launches_on_memrefs(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) {
  // CHECK-NEXT: tile.launch @k
  // CHECK-NEXT: tile.launch @k
  // CHECK-NEXT: return
  tile.launch @k grid(%n) ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  tile.launch @k grid(%n) ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// Pure ops leave the loop, loads and stores stay.
// LICM-LABEL: tile.kernel @invariants
tile.kernel @invariants(%m: memref<?xf32>, %i: index, %n: index, %s: f32) {
  // LICM: %[[V:.*]] = tile.view
  // LICM-NEXT: %[[B:.*]] = tile.broadcast
  // LICM-NEXT: %[[T:.*]] = tile.num_tiles
  // LICM-NEXT: scf.for
  // LICM-NEXT: tile.load
  // LICM: tile.store
  scf.for %k = %i to %n step %n {
    %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
    %b = tile.broadcast %s : f32 -> tensor<8xf32>
    %t = tile.num_tiles %v dim 0 : !tile.view<8xf32>
    %x = tile.load %v[%t] : !tile.view<8xf32> -> tensor<8xf32>
    %y = arith.addf %x, %b : tensor<8xf32>
    tile.store %y, %v[%t] : tensor<8xf32>, !tile.view<8xf32>
  }
  tile.return
}

// Constants stay in their partition: they mean other warps outside.
// CHECK-LABEL: tile.kernel @partitions
// LICM-LABEL: tile.kernel @partitions
tile.kernel @partitions(%m: memref<?xi32>, %i: index) {
  // CHECK-NEXT: tile.warp_specialize
  // CHECK-NEXT: partition "a"
  // CHECK: arith.constant
  // CHECK: partition "b"
  // CHECK: arith.constant
  tile.warp_specialize captures(%m, %i : memref<?xi32>, index) partition "a" warps(1) {
    %c = arith.constant 1 : i32
    memref.store %c, %m[%i] : memref<?xi32>
    tile.yield
  } partition "b" warps(1) {
    %c = arith.constant 1 : i32
    memref.store %c, %m[%i] : memref<?xi32>
    tile.yield
  }
  tile.return
}
