// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-count-waits))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-count-waits))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT

// COUNT-DAG: 7 waits
// COUNT-DAG: 2 partial

#dense = #tile.layout<offset [128:d0]>

// Two groups: the first wait leaves the second under way. A number that is given stays. A join makes one group.
// CHECK-LABEL: tile.kernel @straight
// CHECK: tile.wait %{{.*}} pending 1
// CHECK: tile.wait %{{.*}} pending 0
// CHECK: tile.join
// CHECK: tile.wait %{{.*}} pending 5
tile.kernel @straight(%x: memref<512xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = tile.alloc : !tile.buffer<128xf32, #dense, shared>
  %B = tile.alloc : !tile.buffer<128xf32, #dense, shared>
  %X = tile.view %x : memref<512xf32> to !tile.view<128xf32>
  %a = tile.copy_async %X[%c0] to %A : !tile.view<128xf32> to !tile.buffer<128xf32, #dense, shared>
  %b = tile.copy_async %X[%c1] to %B : !tile.view<128xf32> to !tile.buffer<128xf32, #dense, shared>
  tile.wait %a
  tile.wait %b
  %c = tile.copy_async %X[%c0] to %A : !tile.view<128xf32> to !tile.buffer<128xf32, #dense, shared>
  %d = tile.copy_async %X[%c1] to %B : !tile.view<128xf32> to !tile.buffer<128xf32, #dense, shared>
  %t = tile.join %c, %d
  tile.wait %t pending 5
  tile.return
}

// -----

#dense = #tile.layout<offset [128:d0]>
// Carried round a loop: one group is younger than the one waited for, in the first round and in all others.
// CHECK-LABEL: tile.kernel @ring
// CHECK: scf.for
// CHECK-NEXT: tile.wait %{{.*}} pending 1
tile.kernel @ring(%x: memref<512xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %R = tile.alloc : !tile.buffer<128xf32, #dense, shared, stages = 3>
  %X = tile.view %x : memref<512xf32> to !tile.view<128xf32>
  %r0 = tile.slot %R[%c0] : !tile.buffer<128xf32, #dense, shared, stages = 3>
  %r1 = tile.slot %R[%c1] : !tile.buffer<128xf32, #dense, shared, stages = 3>
  %a = tile.copy_async %X[%c0] to %r0 : !tile.view<128xf32> to !tile.buffer<128xf32, #dense, shared>
  %b = tile.copy_async %X[%c1] to %r1 : !tile.view<128xf32> to !tile.buffer<128xf32, #dense, shared>
  %e:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%t = %a, %u = %b) -> (!tile.token, !tile.token) {
    tile.wait %t
    tile.sync
    %n = arith.addi %k, %c2 : index
    %s = tile.slot %R[%n] : !tile.buffer<128xf32, #dense, shared, stages = 3>
    %v = tile.copy_async %X[%n] to %s : !tile.view<128xf32> to !tile.buffer<128xf32, #dense, shared>
    scf.yield %u, %v : !tile.token, !tile.token
  }
  tile.wait %e#0, %e#1 pending 0
  tile.return
}

// -----

// No copies: nothing changes.
// CHECK-LABEL: tile.kernel @none
// CHECK-NOT: pending
// CHECK: tile.return
tile.kernel @none(%x: memref<512xf32>) attributes {warps = 1 : i32} {
  tile.return
}

// -----
// One thread runs a partition that only starts copies. Four warps arrive at @empty, one thread at @full: both barriers
// count what their partition sends. A kernel whose partitions change their registers begins with an equal share.
// CHECK-LABEL: tile.kernel @partitions
// CHECK-SAME: registers = 248 : i32
// CHECK: tile.alloc arrivals 1 : !tile.barrier<2>
// CHECK: tile.alloc arrivals 4 : !tile.barrier<2>
// CHECK: partition "load" warps(4) registers(40) threads(1) {
// CHECK: partition "multiply" warps(4) registers(232) {
tile.kernel @partitions(%x: memref<64xf32>) attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32} {
  %X = tile.view %x : memref<64xf32> to !tile.view<64xf32>
  %full = tile.alloc : !tile.barrier<2>
  %empty = tile.alloc : !tile.barrier<2>
  tile.warp_specialize captures(%X, %full, %empty : !tile.view<64xf32>, !tile.barrier<2>, !tile.barrier<2>)
  partition "load" warps(4) registers(40) {
    %0 = arith.constant 0 : index
    tile.barrier_arrive %full[%0] : !tile.barrier<2>
    tile.yield
  }
  partition "multiply" warps(4) registers(232) {
    %0 = arith.constant 0 : index
    %v = tile.load %X[%0] : !tile.view<64xf32> -> tensor<64xf32, #tile.layout<lane [32:d0], warp [2:d0*32, 2:_]>>
    tile.barrier_arrive %empty[%0] : !tile.barrier<2>
    tile.yield
  }
  tile.return
}

// -----
// What the kernel says already stays. Partitions of one and of two that arrive at one barrier have equal shares.
// CHECK-LABEL: tile.kernel @stated
// CHECK-SAME: registers = 128 : i32
// CHECK: tile.alloc arrivals 8 : !tile.barrier<1>
// CHECK: tile.alloc arrivals 4 : !tile.barrier<1, arrivals = 2>
// CHECK: partition "a" warps(1) registers(128) threads(1) {
// CHECK: partition "b" warps(2) {
tile.kernel @stated(%x: memref<64xf32>)
    attributes {machine = #tile.machine<"sm_90a">, warps = 3 : i32, registers = 128 : i32} {
  %one = tile.alloc arrivals 8 : !tile.barrier<1>
  %two = tile.alloc : !tile.barrier<1, arrivals = 2>
  tile.warp_specialize captures(%x, %two : memref<64xf32>, !tile.barrier<1, arrivals = 2>)
  partition "a" warps(1) registers(128) {
    %0 = arith.constant 0 : index
    tile.barrier_arrive %two[%0] : !tile.barrier<1, arrivals = 2>
    tile.yield
  }
  partition "b" warps(2) {
    %0 = arith.constant 0 : index
    %X = tile.view %x : memref<64xf32> to !tile.view<64xf32>
    %v = tile.load %X[%0] : !tile.view<64xf32> -> tensor<64xf32, #tile.layout<lane [32:d0], warp [2:d0*32]>>
    tile.barrier_arrive %two[%0] : !tile.barrier<1, arrivals = 2>
    tile.yield
  }
  tile.return
}

// -----

#dense = #tile.layout<offset [32:d1, 8:d0]>
// An engine's copies to memory: the buffer is free once the engine has read it, but what the kernel reads afterwards,
// or in the next round of a loop, must be there. Parameters without llvm.noalias may be the same memory.
// CHECK-LABEL: tile.kernel @out
// CHECK: tile.wait %{{.*}} pending 0 read
tile.kernel @out(%x: memref<8x32xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %A = tile.alloc : !tile.buffer<8x32xf32, #dense, shared>
  %X = tile.view %x : memref<8x32xf32> to !tile.view<8x32xf32>
  %t = tile.load %X[%c0, %c0] : !tile.view<8x32xf32> -> tensor<8x32xf32>
  tile.store %t, %A : tensor<8x32xf32>, !tile.buffer<8x32xf32, #dense, shared>
  %a = tile.copy_async %A to %X[%c0, %c0] engine "tma" : !tile.buffer<8x32xf32, #dense, shared> to !tile.view<8x32xf32>
  tile.wait %a
  tile.return
}

// CHECK-LABEL: tile.kernel @out_and_read
// CHECK: tile.wait %{{.*}} pending 0{{$}}
tile.kernel @out_and_read(%x: memref<8x32xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %A = tile.alloc : !tile.buffer<8x32xf32, #dense, shared>
  %X = tile.view %x : memref<8x32xf32> to !tile.view<8x32xf32>
  %a = tile.copy_async %A to %X[%c0, %c0] engine "tma" : !tile.buffer<8x32xf32, #dense, shared> to !tile.view<8x32xf32>
  tile.wait %a
  %t = tile.load %X[%c0, %c0] : !tile.view<8x32xf32> -> tensor<8x32xf32>
  tile.store %t, %X[%c0, %c0] : tensor<8x32xf32>, !tile.view<8x32xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @out_in_loop
// CHECK: tile.wait %{{.*}} pending 0{{$}}
tile.kernel @out_in_loop(%x: memref<8x32xf32>, %y: memref<8x32xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %A = tile.alloc : !tile.buffer<8x32xf32, #dense, shared>
  %X = tile.view %x : memref<8x32xf32> to !tile.view<8x32xf32>
  %Y = tile.view %y : memref<8x32xf32> to !tile.view<8x32xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %t = tile.load %Y[%i, %c0] : !tile.view<8x32xf32> -> tensor<8x32xf32>
    tile.store %t, %A : tensor<8x32xf32>, !tile.buffer<8x32xf32, #dense, shared>
    %a = tile.copy_async %A to %X[%i, %c0] engine "tma" : !tile.buffer<8x32xf32, #dense, shared> to !tile.view<8x32xf32>
    tile.wait %a
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @out_in_loop_noalias
// CHECK: tile.wait %{{.*}} pending 0 read
tile.kernel @out_in_loop_noalias(%x: memref<8x32xf32>, %y: memref<8x32xf32>)
    attributes {arg_attrs = [{llvm.noalias}, {llvm.noalias}], warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %A = tile.alloc : !tile.buffer<8x32xf32, #dense, shared>
  %X = tile.view %x : memref<8x32xf32> to !tile.view<8x32xf32>
  %Y = tile.view %y : memref<8x32xf32> to !tile.view<8x32xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %t = tile.load %Y[%i, %c0] : !tile.view<8x32xf32> -> tensor<8x32xf32>
    tile.store %t, %A : tensor<8x32xf32>, !tile.buffer<8x32xf32, #dense, shared>
    %a = tile.copy_async %A to %X[%i, %c0] engine "tma" : !tile.buffer<8x32xf32, #dense, shared> to !tile.view<8x32xf32>
    tile.wait %a
  }
  tile.return
}
