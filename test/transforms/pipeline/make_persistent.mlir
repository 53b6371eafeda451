// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile-make-persistent{chip=sm_90a programs=3})' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile-make-persistent{chip=sm_90a})' | FileCheck %s --check-prefix=FEW

#a = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>

// Rounds count on from tile to tile; nobody arrives at a round below the tile's first.
// CHECK-LABEL: func.func @main
// CHECK: tile.launch @product grid(%c3, %c1)
// FEW: tile.launch @product grid(%c5, %c2)
// CHECK-LABEL: tile.kernel private @product
// CHECK: %[[PROGRAM:.*]] = tile.assume %{{.*}} range [0, 2]
// CHECK: partition "load"
// CHECK: scf.for %[[N:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK: %[[BEFORE:.*]] = arith.muli %{{.*}}, %c4
// CHECK: arith.divui %{{.*}}, %c5
// CHECK: scf.for %[[K:.*]] = %c0
// CHECK: %[[R:.*]] = arith.addi %[[K]], %[[BEFORE]]
// CHECK: %[[W:.*]] = arith.subi %[[R]], %c2
// CHECK: tile.barrier_wait %{{.*}}[%[[W]]]
// CHECK: partition "multiply"
// CHECK: scf.for
// CHECK: scf.for %[[L:.*]] = %c0
// CHECK: arith.subi %[[L]], %c1
// CHECK: arith.cmpi slt, %[[L]], %c1
// CHECK: tile.barrier_arrive %{{.*}}[%{{.*}}]
// CHECK: tile.sync
// CHECK-NEXT: tile.store %{{.*}}, %{{.*}} : tensor<64x64xf16>
func.func @main(%x: memref<320x256xf16>, %y: memref<320x128xf16>) {
  %c5 = arith.constant 5 : index
  %c2 = arith.constant 2 : index
  tile.launch @product grid(%c5, %c2) ins(%x : memref<320x256xf16>) outs(%y : memref<320x128xf16>)
  return
}
tile.kernel private @product(%x: memref<320x256xf16>, %y: memref<320x128xf16>) attributes {machine = #tile.machine<"sm_90a">, warps = 12 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %X = tile.view %x : memref<320x256xf16> to !tile.view<64x64xf16>
  %Y = tile.view %y : memref<320x128xf16> to !tile.view<64x64xf16>
  %a = tile.alloc : !tile.buffer<64x64xf16, #a, shared, stages = 2>
  %o = tile.alloc : !tile.buffer<64x64xf16, #a, shared>
  %full = tile.alloc : !tile.barrier<2>
  %empty = tile.alloc : !tile.barrier<2>
  tile.warp_specialize captures(%i, %j, %X, %Y, %a, %o, %full, %empty : index, index, !tile.view<64x64xf16>, !tile.view<64x64xf16>, !tile.buffer<64x64xf16, #a, shared, stages = 2>, !tile.buffer<64x64xf16, #a, shared>, !tile.barrier<2>, !tile.barrier<2>)
  partition "load" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    scf.for %k = %c0 to %c4 step %c1 {
      %w = arith.subi %k, %c2 : index
      tile.barrier_wait %empty[%w] : !tile.barrier<2>
      tile.barrier_arrive %full[%k] expect 8192 : !tile.barrier<2>
      %s = tile.slot %a[%k] : !tile.buffer<64x64xf16, #a, shared, stages = 2>
      tile.copy_async %X[%i, %k] to %s engine "tma" signals %full[%k] : !tile.view<64x64xf16> to !tile.buffer<64x64xf16, #a, shared>, !tile.barrier<2>
    }
    tile.yield
  }
  partition "multiply" warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf16>
    %t = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf16>) {
      %s = tile.slot %a[%k] : !tile.buffer<64x64xf16, #a, shared, stages = 2>
      tile.barrier_wait %full[%k] : !tile.barrier<2>
      %v = tile.load %s : !tile.buffer<64x64xf16, #a, shared> -> tensor<64x64xf16>
      %u = arith.addf %acc, %v : tensor<64x64xf16>
      %b = arith.subi %k, %c1 : index
      tile.barrier_arrive %empty[%b] : !tile.barrier<2>
      scf.yield %u : tensor<64x64xf16>
    }
    tile.barrier_arrive %empty[%c3] : !tile.barrier<2>
    tile.store %t, %o : tensor<64x64xf16>, !tile.buffer<64x64xf16, #a, shared>
    tile.fence async
    tile.sync
    %d = tile.copy_async %o to %Y[%i, %j] engine "tma" : !tile.buffer<64x64xf16, #a, shared> to !tile.view<64x64xf16>
    tile.wait %d
    tile.yield
  }
  tile.return
}

// -----

// Programs that ask how many they are stay.
// CHECK-LABEL: func.func @asks
// CHECK: tile.launch @asked grid(%c5)
func.func @asks(%x: memref<320xindex>) {
  %c5 = arith.constant 5 : index
  tile.launch @asked grid(%c5) outs(%x : memref<320xindex>)
  return
}
tile.kernel private @asked(%x: memref<320xindex>) attributes {machine = #tile.machine<"sm_90a">, warps = 12 : i32} {
  %n = tile.num_programs 0
  %full = tile.alloc : !tile.barrier<2>
  tile.warp_specialize captures(%n, %full : index, !tile.barrier<2>)
  partition "load" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %k = %c0 to %c4 step %c1 {
      tile.barrier_arrive %full[%k] : !tile.barrier<2>
    }
    tile.yield
  }
  tile.return
}
