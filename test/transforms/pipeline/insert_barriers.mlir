// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-insert-barriers))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-insert-barriers,tile-insert-barriers))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-insert-barriers))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT

// COUNT-DAG: 19 inserted
// COUNT-DAG: 2 removed

#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>

// Written, then read through the same parameter. Through one that shares no memory: no barrier.
// CHECK-LABEL: tile.kernel @global
// CHECK-SAME: attributes {ordered, warps = 2 : i32}
// CHECK: tile.store
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.sync
// CHECK-NEXT: tile.load
// CHECK-NOT: tile.sync
// CHECK: tile.return
tile.kernel @global(%x: memref<128xf32>, %y: memref<128xf32> {llvm.noalias}) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128xf32, #l>
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  %Y = tile.view %y : memref<128xf32> to !tile.view<128xf32>
  tile.store %zero, %X[%c0] : tensor<128xf32, #l>, !tile.view<128xf32>
  %a = tile.load %Y[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  %b = tile.load %X[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  %s = arith.addf %a, %b : tensor<128xf32, #l>
  tile.store %s, %Y[%c0] : tensor<128xf32, #l>, !tile.view<128xf32>
  tile.return
}

// -----

#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
// What the last round wrote is read in the next: the barrier stands in the loop.
// CHECK-LABEL: tile.kernel @loop
// CHECK: scf.for
// CHECK-NEXT: tile.sync
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.sync
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
tile.kernel @loop(%x: memref<128xf32>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  scf.for %k = %c0 to %c4 step %c1 {
    %a = tile.load %X[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
    tile.store %a, %X[%c0] : tensor<128xf32, #l>, !tile.view<128xf32>
  }
  tile.return
}

// -----

#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
#dense = #tile.layout<offset [128:d0]>
// Memory passes from one buffer to the next, and to an exchange: a barrier each. The exchange's own is not an op.
// CHECK-LABEL: tile.kernel @places
// CHECK: tile.load {{.*}} : !buffer
// CHECK-NEXT: tile.sync
// CHECK-NEXT: tile.store
// CHECK: tile.load
// CHECK-NEXT: memref.store
// CHECK-NEXT: memref.store
// CHECK-NEXT: tile.sync
// CHECK-NEXT: memref.load
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.sync
// CHECK-NEXT: memref.store
tile.kernel @places(%x: memref<128xf32>, %y: memref<1xf32> {llvm.noalias}, %f: f32) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = tile.alloc at 0 : !tile.buffer<128xf32, #dense, shared>
  %B = tile.alloc at 256 : !tile.buffer<128xf32, #dense, shared>
  %S = tile.alloc at 0 : memref<2xf32>
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  %a = tile.load %X[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  tile.store %a, %A : tensor<128xf32, #l>, !tile.buffer<128xf32, #dense, shared>
  tile.sync
  %b = tile.load %A : !tile.buffer<128xf32, #dense, shared> -> tensor<128xf32, #l>
  tile.store %b, %B : tensor<128xf32, #l>, !tile.buffer<128xf32, #dense, shared>
  %d = tile.load %B : !tile.buffer<128xf32, #dense, shared> -> tensor<128xf32, #l>
  memref.store %f, %S[%c0] : memref<2xf32>
  memref.store %f, %S[%c1] : memref<2xf32>
  %s = memref.load %S[%c0] : memref<2xf32>
  %e = tile.load %X[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  memref.store %s, %S[%c1] : memref<2xf32>
  tile.return
}

// -----

#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
// Nothing was accessed before, or since the last one: the barrier goes. Around what releases and acquires one comes.
// CHECK-LABEL: tile.kernel @atomic
// CHECK-NOT: tile.sync
// CHECK: memref.store
// CHECK-NEXT: tile.sync
// CHECK-NEXT: tile.atomic_rmw
// CHECK-NEXT: tile.sync
// CHECK-NEXT: tile.load
tile.kernel @atomic(%m: memref<4xi32>, %x: memref<128xf32> {llvm.noalias}) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %f = arith.constant 1.0 : f32
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  tile.sync
  tile.sync
  memref.store %f, %x[%c0] : memref<128xf32>
  %old = tile.atomic_rmw add %one, %m[%c0] acq_rel device : i32, memref<4xi32> -> i32
  tile.sync
  %a = tile.load %X[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  tile.return
}

// -----

#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
// One thread stores what it read; the barrier behind which all load it stands behind the access, too: nothing waits for
// it again, and what acquires holds the others back there.
// CHECK-LABEL: tile.kernel @spread
// CHECK: tile.atomic_rmw
// CHECK-NEXT: memref.store
// CHECK-NEXT: tile.sync
// CHECK-NEXT: memref.load
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.atomic_rmw
// CHECK-NEXT: tile.sync
// CHECK-NEXT: memref.store
// CHECK-NEXT: tile.sync
// CHECK-NEXT: memref.load
// CHECK-NEXT: tile.load
// CHECK-NOT: tile.sync
// CHECK: tile.return
tile.kernel @spread(%m: memref<4xi32> {llvm.noalias}, %x: memref<128xi32>, %y: memref<128xi32> {llvm.noalias}) attributes {machine = #tile.machine<"sm_80">, warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %S = tile.alloc at 0 : memref<1xi32>
  %X = tile.view %x : memref<128xi32> to !tile.view<128xi32>
  %Y = tile.view %y : memref<128xi32> to !tile.view<128xi32>
  %one = arith.constant 1 : i32
  %old = tile.atomic_rmw add %one, %m[%c0] relaxed device : i32, memref<4xi32> -> i32
  memref.store %old, %S[%c0] : memref<1xi32>
  %old_ = memref.load %S[%c0] : memref<1xi32>
  %a = tile.load %X[%c0] : !tile.view<128xi32> -> tensor<128xi32, #l>
  %older = tile.atomic_rmw add %old_, %m[%c0] acquire device : i32, memref<4xi32> -> i32
  memref.store %older, %S[%c0] : memref<1xi32>
  %older_ = memref.load %S[%c0] : memref<1xi32>
  %b = tile.load %X[%c0] : !tile.view<128xi32> -> tensor<128xi32, #l>
  %i = arith.index_cast %older_ : i32 to index
  %s = arith.addi %a, %b : tensor<128xi32, #l>
  tile.store %s, %Y[%i] : tensor<128xi32, #l>, !tile.view<128xi32>
  tile.return
}

// -----

#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
// What acquires holds back what accesses global memory, and nothing else.
// CHECK-LABEL: tile.kernel @acquire
// CHECK: tile.atomic_rmw
// CHECK-NEXT: memref.store
// CHECK-NEXT: tile.sync
// CHECK-NEXT: tile.load
tile.kernel @acquire(%m: memref<4xi32> {llvm.noalias}, %x: memref<128xi32>, %f: f32) attributes {machine = #tile.machine<"sm_80">, warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %S = tile.alloc at 0 : memref<1xf32>
  %X = tile.view %x : memref<128xi32> to !tile.view<128xi32>
  %one = arith.constant 1 : i32
  %old = tile.atomic_rmw add %one, %m[%c0] acquire device : i32, memref<4xi32> -> i32
  memref.store %f, %S[%c0] : memref<1xf32>
  %b = tile.load %X[%c0] : !tile.view<128xi32> -> tensor<128xi32, #l>
  tile.return
}

// -----

#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
#r = #tile.layout<reg [2:d0*64], lane [32:d0], warp [2:d0*32]>
// A second read by other threads counts beside the first: the store waits.
// CHECK-LABEL: tile.kernel @two_readers
// CHECK: tile.load
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.sync
// CHECK-NEXT: tile.store
tile.kernel @two_readers(%x: memref<128xf32>) attributes {machine = #tile.machine<"sm_80">, warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  %a = tile.load %X[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  %b = tile.load %X[%c0] : !tile.view<128xf32> -> tensor<128xf32, #r>
  tile.store %a, %X[%c0] : tensor<128xf32, #l>, !tile.view<128xf32>
  tile.return
}

// -----

#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
// Each thread meets its own elements: no barrier. At another place they may be another thread's.
// CHECK-LABEL: tile.kernel @same_threads
// CHECK: tile.load
// CHECK-NEXT: tile.store
// CHECK: tile.sync
// CHECK-NEXT: tile.load
tile.kernel @same_threads(%x: memref<256xf32>) attributes {machine = #tile.machine<"sm_80">, warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %X = tile.view %x : memref<256xf32> to !tile.view<128xf32>
  %a = tile.load %X[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  tile.store %a, %X[%c0] : tensor<128xf32, #l>, !tile.view<128xf32>
  %b = tile.load %X[%c1] : !tile.view<128xf32> -> tensor<128xf32, #l>
  tile.return
}

// -----

#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
// One that is ordered already stays as it is, whatever is missing.
// CHECK-LABEL: tile.kernel @given
// CHECK-NOT: tile.sync
// CHECK: tile.return
tile.kernel @given(%x: memref<128xf32>) attributes {ordered, warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  %a = tile.load %X[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  tile.store %a, %X[%c0] : tensor<128xf32, #l>, !tile.view<128xf32>
  tile.return
}

// -----

// One thread makes barriers in memory: behind the last of them all threads see them. A tile.warp_specialize ends when
// all partitions have.
// CHECK-LABEL: tile.kernel @partitions
// CHECK: tile.alloc at 0 : !tile.barrier<2>
// CHECK-NEXT: tile.alloc at 128 : !tile.barrier<1>
// CHECK-NEXT: tile.sync
// CHECK: tile.warp_specialize
// CHECK: memref.store
// CHECK: memref.store
// CHECK: }
// CHECK-NEXT: tile.sync
// CHECK-NEXT: memref.load
tile.kernel @partitions(%x: memref<32xf32>, %y: memref<32xf32> {llvm.noalias}, %f: f32) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %full = tile.alloc at 0 : !tile.barrier<2>
  %empty = tile.alloc at 128 : !tile.barrier<1>
  tile.warp_specialize captures(%x, %f : memref<32xf32>, f32)
  partition "a" warps(1) {
    %c1 = arith.constant 1 : index
    memref.store %f, %x[%c1] : memref<32xf32>
    tile.yield
  }
  partition "b" warps(1) {
    %c2 = arith.constant 2 : index
    memref.store %f, %x[%c2] : memref<32xf32>
    tile.yield
  }
  %a = memref.load %y[%c0] : memref<32xf32>
  memref.store %a, %y[%c0] : memref<32xf32>
  tile.return
}

// -----

// A memref in "shared" is ordered by the kernel's own barriers; a memref without a memory space in program order.
// CHECK-LABEL: tile.kernel @spaces
// CHECK: tile.scatter
// CHECK-NEXT: tile.gather
// CHECK-NEXT: tile.scatter
// CHECK-NEXT: tile.sync
// CHECK-NEXT: tile.gather
#l = #tile.layout<lane [32:d0]>
tile.kernel @spaces() attributes {warps = 1 : i32} {
  %own = tile.alloc at 0 : memref<32xi32, "shared">
  %ordered = tile.alloc at 128 : memref<32xi32>
  %at = tile.iota dim 0 : tensor<32xi32, #l>
  tile.scatter %at, %own[%at] bounds(drop) : tensor<32xi32, #l>, memref<32xi32, "shared">[tensor<32xi32, #l>]
  %a = tile.gather %own[%at] bounds(drop) : memref<32xi32, "shared">[tensor<32xi32, #l>] -> tensor<32xi32, #l>
  tile.scatter %a, %ordered[%at] bounds(drop) : tensor<32xi32, #l>, memref<32xi32>[tensor<32xi32, #l>]
  %b = tile.gather %ordered[%at] bounds(drop) : memref<32xi32>[tensor<32xi32, #l>] -> tensor<32xi32, #l>
  tile.print "{}", %b : tensor<32xi32, #l>
  tile.return
}

// -----

// Programs of a cluster meet behind the making of barriers that others reach, and at the end.
// CHECK-LABEL: tile.kernel @reached
// CHECK: tile.alloc {{.*}}!tile.barrier
// CHECK-NEXT: tile.sync cluster
// CHECK: tile.barrier_arrive
// CHECK: tile.barrier_wait
// CHECK-NEXT: tile.sync cluster
// CHECK-NEXT: tile.return
tile.kernel @reached() attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tile.alloc at 0 : !tile.barrier<1>
  tile.barrier_arrive %b[%c0] cluster %c1 : !tile.barrier<1>
  tile.barrier_wait %b[%c0] : !tile.barrier<1>
  tile.return
}
