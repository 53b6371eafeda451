// A plugin's ops with effects, which no pass names: barriers, hoisting, liveness and dead code follow what their rows
// say, on GPUs and on the CPU.
// RUN: %tile_opt --load-dialect-plugin=%unit/probe_dialect.so %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-plan-shared-memory{chip=sm_80},tile-insert-barriers))' | FileCheck %s --check-prefixes=BARRIER,PLAN
// RUN: %tile_opt --load-dialect-plugin=%unit/probe_dialect.so %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-hoist-copies))' | FileCheck %s --check-prefix=HOIST
// RUN: %tile_opt --load-dialect-plugin=%unit/probe_dialect.so %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(canonicalize,cse))' | FileCheck %s --check-prefix=DEAD
#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>

// A write to x by an op that nobody knows: what reads x after it waits for all threads, what reads y does not.
// BARRIER-LABEL: tile.kernel @barrier
// BARRIER: probe.store
// BARRIER-NEXT: tile.load
// BARRIER-NEXT: tile.sync
// BARRIER-NEXT: tile.load
tile.kernel @barrier(%x: memref<128xf32>, %y: memref<128xf32> {llvm.noalias}, %v: f32) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  %Y = tile.view %y : memref<128xf32> to !tile.view<128xf32>
  probe.store %v, %x : f32, memref<128xf32>
  %a = tile.load %Y[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  %b = tile.load %X[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  %s = arith.addf %a, %b : tensor<128xf32, #l>
  tile.store %s, %Y[%c0] : tensor<128xf32, #l>, !tile.view<128xf32>
  tile.return
}

// -----

// An op that only reads leaves the load free to go; one that writes keeps it in the loop.
// HOIST-LABEL: tile.kernel @reads
// HOIST: tile.load
// HOIST: scf.for
// HOIST: probe.load
// HOIST-LABEL: tile.kernel @writes
// HOIST: scf.for
// HOIST: tile.load
// HOIST: probe.store
tile.kernel @reads(%a: memref<64xf32>, %m: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %A = tile.view %a : memref<64xf32> to !tile.view<64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<64xf32>) {
    %w = tile.load %A[%c0] : !tile.view<64xf32> -> tensor<64xf32>
    %k = probe.load %m : memref<4xf32>
    %t = tile.broadcast %k axes [] : f32 -> tensor<64xf32>
    %p = arith.addf %s, %w : tensor<64xf32>
    %q = arith.addf %p, %t : tensor<64xf32>
    scf.yield %q : tensor<64xf32>
  }
  tile.store %r, %A[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}
tile.kernel @writes(%a: memref<64xf32>, %m: memref<4xf32>, %v: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %A = tile.view %a : memref<64xf32> to !tile.view<64xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<64xf32>) {
    %w = tile.load %A[%c0] : !tile.view<64xf32> -> tensor<64xf32>
    probe.store %v, %m : f32, memref<4xf32>
    %p = arith.addf %s, %w : tensor<64xf32>
    scf.yield %p : tensor<64xf32>
  }
  tile.store %r, %A[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}

// -----

// Unused, a read goes and a write stays; two loads of x are one unless the write stands between.
// DEAD-LABEL: tile.kernel @dead
// DEAD-NOT: probe.load
// DEAD: tile.load
// DEAD-NEXT: probe.store
// DEAD-NEXT: tile.load
// DEAD-NOT: tile.load
// DEAD: tile.return
tile.kernel @dead(%x: memref<64xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<64xf32> to !tile.view<64xf32>
  %unused = probe.load %x : memref<64xf32>
  %a = tile.load %X[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  probe.store %v, %x : f32, memref<64xf32>
  %b = tile.load %X[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  %c = tile.load %X[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  %s = arith.addf %a, %b : tensor<64xf32>
  %t = arith.addf %s, %c : tensor<64xf32>
  tile.store %t, %X[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}

// -----

// Liveness in shared memory: a buffer lives to the last op that reads it, through a view that a plugin's op makes as
// well; buffers that nobody reads later share their bytes.
// PLAN-LABEL: tile.kernel @in_turn
// PLAN: tile.alloc at 0 :
// PLAN: tile.alloc at 0 :
// PLAN-LABEL: tile.kernel @peeked
// PLAN: tile.alloc at 0 :
// PLAN: tile.alloc at 16384 :
// PLAN-LABEL: tile.kernel @window
// PLAN: tile.alloc at 0 :
// PLAN: tile.alloc at 16384 :
#rows = #tile.layout<reg [32:d0*4], lane [32:d1], warp [4:d0]>
#dense = #tile.layout<offset [32:d1, 128:d0]>
tile.kernel @in_turn(%x: memref<128x32xf32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %A = tile.alloc : !tile.buffer<128x32xf32, #dense, shared>
  %B = tile.alloc : !tile.buffer<128x32xf32, #dense, shared>
  %X = tile.view %x : memref<128x32xf32> to !tile.view<128x32xf32>
  %a = tile.load %X[%c0, %c0] : !tile.view<128x32xf32> -> tensor<128x32xf32, #rows>
  tile.store %a, %A : tensor<128x32xf32, #rows>, !tile.buffer<128x32xf32, #dense, shared>
  probe.peek %A : !tile.buffer<128x32xf32, #dense, shared>
  tile.store %a, %B : tensor<128x32xf32, #rows>, !tile.buffer<128x32xf32, #dense, shared>
  tile.return
}
tile.kernel @peeked(%x: memref<128x32xf32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %A = tile.alloc : !tile.buffer<128x32xf32, #dense, shared>
  %B = tile.alloc : !tile.buffer<128x32xf32, #dense, shared>
  %X = tile.view %x : memref<128x32xf32> to !tile.view<128x32xf32>
  %a = tile.load %X[%c0, %c0] : !tile.view<128x32xf32> -> tensor<128x32xf32, #rows>
  tile.store %a, %A : tensor<128x32xf32, #rows>, !tile.buffer<128x32xf32, #dense, shared>
  tile.store %a, %B : tensor<128x32xf32, #rows>, !tile.buffer<128x32xf32, #dense, shared>
  probe.peek %A : !tile.buffer<128x32xf32, #dense, shared>
  tile.return
}
tile.kernel @window(%x: memref<128x32xf32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %A = tile.alloc : !tile.buffer<128x32xf32, #dense, shared>
  %B = tile.alloc : !tile.buffer<128x32xf32, #dense, shared>
  %X = tile.view %x : memref<128x32xf32> to !tile.view<128x32xf32>
  %w = probe.window %A : !tile.buffer<128x32xf32, #dense, shared> -> memref<128x32xf32>
  %a = tile.load %X[%c0, %c0] : !tile.view<128x32xf32> -> tensor<128x32xf32, #rows>
  tile.store %a, %B : tensor<128x32xf32, #rows>, !tile.buffer<128x32xf32, #dense, shared>
  %r = probe.load %w : memref<128x32xf32>
  tile.return
}

// -----

// A barrier stands between a write of a local buffer and a read through the plugin's view of the buffer.
// BARRIER-LABEL: tile.kernel @local
// BARRIER: tile.store
// BARRIER-NEXT: tile.sync
// BARRIER-NEXT: probe.load
#rows = #tile.layout<reg [8:d0*4], lane [32:d1], warp [4:d0]>
#dense = #tile.layout<offset [32:d1, 32:d0]>
tile.kernel @local(%x: memref<32x32xf32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %A = tile.alloc : !tile.buffer<32x32xf32, #dense, local>
  %w = probe.window %A : !tile.buffer<32x32xf32, #dense, local> -> memref<32x32xf32>
  %X = tile.view %x : memref<32x32xf32> to !tile.view<32x32xf32>
  %a = tile.load %X[%c0, %c0] : !tile.view<32x32xf32> -> tensor<32x32xf32, #rows>
  tile.store %a, %A : tensor<32x32xf32, #rows>, !tile.buffer<32x32xf32, #dense, local>
  %r = probe.load %w : memref<32x32xf32>
  tile.return
}
