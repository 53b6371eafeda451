// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-specialize-stores{chip=sm_90a}))' | FileCheck %s

#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>

// Half of the loading partition's warps copies what the other partition leaves in the buffer.
// CHECK-LABEL: tile.kernel @walk
// CHECK: %[[FULL:.*]] = tile.alloc : !tile.barrier<2>
// CHECK-NEXT: tile.alloc : !tile.barrier<1>
// CHECK-NEXT: tile.alloc : !tile.barrier<1>
// CHECK: partition "load" warps(2) registers(40) {
// CHECK: partition "store" warps(2) registers(40) {
// CHECK: scf.for %[[N:.*]] = %c0{{.*}} to %c6
// CHECK: %[[I:.*]] = arith.divui %[[N]], %c2
// CHECK: %[[J:.*]] = arith.remui %[[N]], %c2
// CHECK: tile.barrier_wait %[[WRITTEN:.*]][%[[N]]] : !tile.barrier<1>
// CHECK-NEXT: %[[OUT:.*]] = tile.copy_async %[[BUFFER:.*]] to %{{.*}}[%[[I]], %[[J]]] engine "tma"
// CHECK-NEXT: tile.wait %[[OUT]]
// CHECK-NEXT: tile.barrier_arrive %[[TAKEN:.*]][%[[N]]] : !tile.barrier<1>
// CHECK-NEXT: }
// CHECK: partition "compute" warps(4) registers(216) {
// CHECK: scf.for %[[M:.*]] = %c0{{.*}} to %c6
// CHECK: %[[LAST:.*]] = arith.subi %[[M]], %c1
// CHECK-NEXT: tile.barrier_wait %[[TAKEN]][%[[LAST]]]
// CHECK-NEXT: tile.store %{{.*}}, %[[BUFFER]]
// CHECK-NEXT: tile.fence async
// CHECK-NEXT: tile.barrier_arrive %[[WRITTEN]][%[[M]]]
// CHECK-NEXT: }
tile.kernel @walk(%x: memref<192x128xf16> {llvm.noalias}, %y_: memref<192x128xf16> {llvm.noalias}) attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32} {
  %y = tile.assume %y_ align 16 : memref<192x128xf16>
  %X = tile.view %x : memref<192x128xf16> to !tile.view<64x64xf16>
  %Y = tile.view %y : memref<192x128xf16> to !tile.view<64x64xf16>
  %o = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  %full = tile.alloc : !tile.barrier<2>
  tile.warp_specialize captures(%X, %Y, %o, %full : !tile.view<64x64xf16>, !tile.view<64x64xf16>, !tile.buffer<64x64xf16, #s, shared>, !tile.barrier<2>)
  partition "load" warps(4) registers(40) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    scf.for %n = %c0 to %c6 step %c1 {
      tile.barrier_arrive %full[%n] : !tile.barrier<2>
    }
    tile.yield
  }
  partition "compute" warps(4) registers(216) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    scf.for %n = %c0 to %c6 step %c1 {
      %i = arith.divui %n, %c2 : index
      %j = arith.remui %n, %c2 : index
      tile.barrier_wait %full[%n] : !tile.barrier<2>
      %t = tile.load %X[%i, %j] : !tile.view<64x64xf16> -> tensor<64x64xf16>
      %u = arith.addf %t, %t : tensor<64x64xf16>
      tile.sync
      tile.store %u, %o : tensor<64x64xf16>, !tile.buffer<64x64xf16, #s, shared>
      tile.fence async
      tile.sync
      %d = tile.copy_async %o to %Y[%i, %j] engine "tma" : !tile.buffer<64x64xf16, #s, shared> to !tile.view<64x64xf16>
      tile.wait %d
    }
    tile.yield
  }
  tile.return
}

// -----

#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>

// The partition stores elsewhere, too, in memory that may be the copy's: the copy's wait orders the two.
// CHECK-LABEL: tile.kernel @stores_twice
// CHECK: partition "load" warps(4) {
// CHECK-NOT: partition "store"
tile.kernel @stores_twice(%x: memref<192x64xf16>, %y_: memref<192x64xf16>) attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32} {
  %y = tile.assume %y_ align 16 : memref<192x64xf16>
  %X = tile.view %x : memref<192x64xf16> to !tile.view<64x64xf16>
  %Y = tile.view %y : memref<192x64xf16> to !tile.view<64x64xf16>
  %o = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  %full = tile.alloc : !tile.barrier<2>
  tile.warp_specialize captures(%X, %Y, %o, %full : !tile.view<64x64xf16>, !tile.view<64x64xf16>, !tile.buffer<64x64xf16, #s, shared>, !tile.barrier<2>)
  partition "load" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    scf.for %n = %c0 to %c3 step %c1 {
      tile.barrier_arrive %full[%n] : !tile.barrier<2>
    }
    tile.yield
  }
  partition "compute" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    scf.for %n = %c0 to %c3 step %c1 {
      tile.barrier_wait %full[%n] : !tile.barrier<2>
      %t = tile.load %X[%n, %c0] : !tile.view<64x64xf16> -> tensor<64x64xf16>
      tile.store %t, %X[%n, %c0] : tensor<64x64xf16>, !tile.view<64x64xf16>
      tile.store %t, %o : tensor<64x64xf16>, !tile.buffer<64x64xf16, #s, shared>
      tile.fence async
      tile.sync
      %d = tile.copy_async %o to %Y[%n, %c0] engine "tma" : !tile.buffer<64x64xf16, #s, shared> to !tile.view<64x64xf16>
      tile.wait %d
    }
    tile.yield
  }
  tile.return
}

// -----

#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>

// What follows reads the buffer: the walk needs it itself.
// CHECK-LABEL: tile.kernel @reads_again
// CHECK-NOT: partition "store"
tile.kernel @reads_again(%x: memref<192x64xf16> {llvm.noalias}, %y_: memref<192x64xf16> {llvm.noalias}) attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32} {
  %y = tile.assume %y_ align 16 : memref<192x64xf16>
  %X = tile.view %x : memref<192x64xf16> to !tile.view<64x64xf16>
  %Y = tile.view %y : memref<192x64xf16> to !tile.view<64x64xf16>
  %o = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  %full = tile.alloc : !tile.barrier<2>
  tile.warp_specialize captures(%X, %Y, %o, %full : !tile.view<64x64xf16>, !tile.view<64x64xf16>, !tile.buffer<64x64xf16, #s, shared>, !tile.barrier<2>)
  partition "load" warps(4) {
    %c0 = arith.constant 0 : index
    tile.barrier_arrive %full[%c0] : !tile.barrier<2>
    tile.yield
  }
  partition "compute" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    scf.for %n = %c0 to %c3 step %c1 {
      %t = tile.load %o : !tile.buffer<64x64xf16, #s, shared> -> tensor<64x64xf16>
      tile.sync
      tile.store %t, %o : tensor<64x64xf16>, !tile.buffer<64x64xf16, #s, shared>
      tile.fence async
      tile.sync
      %d = tile.copy_async %o to %Y[%n, %c0] engine "tma" : !tile.buffer<64x64xf16, #s, shared> to !tile.view<64x64xf16>
      tile.wait %d
    }
    tile.yield
  }
  tile.return
}
