// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-alternate-partitions))' | FileCheck %s

#acc = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16]>
#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
!a = !tile.buffer<64x64xf16, #s, shared>
!ring = !tile.buffer<64x64xf16, #s, shared, stages = 2>
!out = !tile.view<64x64xf32>

// Both groups walk over every second tile. A group begins when the other one has started its products.
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: warps = 12 : i32
// CHECK: %[[FULL:.*]] = tile.alloc : !tile.barrier<2>
// CHECK-NEXT: tile.alloc : !tile.barrier<2>
// CHECK: partition "load" warps(4) registers(40) {
// CHECK: partition "multiply" warps(4) registers(232) {
// CHECK: scf.for %[[N:.*]] = %c0{{.*}} to %c6{{.*}} step %c2
// CHECK: %[[LAST:.*]] = arith.subi %[[N]], %c1
// CHECK-NEXT: tile.barrier_wait %[[TURN:.*]][%[[LAST]]] : !tile.barrier<2>
// CHECK: scf.for
// CHECK: tile.mma_async
// CHECK: }
// CHECK-NEXT: tile.barrier_arrive %[[TURN]][%[[N]]] : !tile.barrier<2>
// CHECK-NEXT: tile.mma_wait
// CHECK: partition "multiply_2" warps(4) registers(232) {
// CHECK: scf.for %[[M:.*]] = %c1{{.*}} to %c6{{.*}} step %c2
// CHECK: %[[BEFORE:.*]] = arith.subi %[[M]], %c1
// CHECK-NEXT: tile.barrier_wait %[[TURN]][%[[BEFORE]]]
// CHECK: tile.barrier_arrive %[[TURN]][%[[M]]]
tile.kernel @product(%c: memref<384x64xf32>) attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32,
    schedule = #tile.schedule<specialize = [4, 4, 4]>} {
  %C = tile.view %c : memref<384x64xf32> to !out
  %As = tile.alloc : !ring
  %full = tile.alloc : !tile.barrier<2>
  tile.warp_specialize captures(%C, %As, %full : !out, !ring, !tile.barrier<2>)
  partition "load" warps(4) registers(40) {
    tile.yield
  }
  partition "multiply" warps(4) registers(232) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c6 = arith.constant 6 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    scf.for %n = %c0 to %c6 step %c1 {
      %before = arith.muli %n, %c3 : index
      %acc = scf.for %k = %c0 to %c3 step %c1 iter_args(%t = %zero) -> (tensor<64x64xf32, #acc>) {
        %use = arith.addi %k, %before : index
        %x = tile.slot %As[%use] : !ring
        tile.barrier_wait %full[%use] : !tile.barrier<2>
        %u = tile.mma_async %x, %x, %t atom "wgmma.m64n64k16" : !a, !a -> tensor<64x64xf32, #acc>
        %v = tile.mma_wait %u pending 1 : tensor<64x64xf32, #acc>
        scf.yield %v : tensor<64x64xf32, #acc>
      }
      %d = tile.mma_wait %acc pending 0 : tensor<64x64xf32, #acc>
      tile.store %d, %C[%n, %c0] : tensor<64x64xf32, #acc>, !out
    }
    tile.yield
  }
  tile.return
}

// -----

// A kernel whose schedule names no turns stays.
// CHECK-LABEL: tile.kernel @together
// CHECK-NOT: multiply_2
tile.kernel @together() attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32,
    schedule = #tile.schedule<specialize = [4, 4]>} {
  tile.warp_specialize captures() partition "load" warps(4) { tile.yield } partition "multiply" warps(4) { tile.yield }
  tile.return
}

// -----

// expected-error@+1 {{schedule: `specialize` names groups that multiply in turn, but no partition walks over tiles; that takes a constant grid of more tiles than the machine has cores}}
tile.kernel @few() attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32,
    schedule = #tile.schedule<specialize = [4, 4, 4]>} {
  tile.warp_specialize captures() partition "load" warps(4) { tile.yield } partition "multiply" warps(4) { tile.yield }
  tile.return
}

// -----

#acc = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16]>
#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
!a = !tile.buffer<64x64xf16, #s, shared>
tile.kernel @buffer() attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32,
    schedule = #tile.schedule<specialize = [4, 4, 4]>} {
  %As = tile.alloc : !a
  tile.warp_specialize captures(%As : !a)
  partition "load" warps(4) {
    tile.yield
  }
  partition "multiply" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    scf.for %n = %c0 to %c6 step %c1 {
      %acc = scf.for %k = %c0 to %c6 step %c1 iter_args(%t = %zero) -> (tensor<64x64xf32, #acc>) {
        %u = tile.mma_async %As, %As, %t atom "wgmma.m64n64k16" : !a, !a -> tensor<64x64xf32, #acc>
        %v = tile.mma_wait %u pending 0 : tensor<64x64xf32, #acc>
        scf.yield %v : tensor<64x64xf32, #acc>
      }
      %h = arith.truncf %acc : tensor<64x64xf32, #acc> to tensor<64x64xf16, #acc>
      // expected-error@+1 {{uses shared memory that no barrier passes from one group to the other; schedule: `specialize` cannot name groups that multiply in turn here}}
      tile.store %h, %As : tensor<64x64xf16, #acc>, !a
    }
    tile.yield
  }
  tile.return
}
