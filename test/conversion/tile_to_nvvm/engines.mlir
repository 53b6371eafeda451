// Barriers in memory, boxes of tensors, products of warpgroups and partitions, as ops of nvvm.
// RUN: %tile_opt %s --convert-tile-to-nvvm=chip=sm_90a --canonicalize --cse | FileCheck %s
#acc = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16]>
#sa = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
#sb = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>

// One partition of one thread, which starts the copies of three parameters; another of four warps, which multiplies.
// CHECK-LABEL: llvm.func @product(
// CHECK-SAME: %[[A:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant},
// CHECK-SAME: %[[B:[a-z0-9]+]]: !llvm.ptr {{{.*}}nvvm.grid_constant},
// CHECK-SAME: %[[C:[a-z0-9]+]]: !llvm.ptr {{{.*}}nvvm.grid_constant})
// CHECK-SAME: nvvm.maxnreg = 128
// CHECK-SAME: tile.tensor_maps = [array<i64: 0, 6, 128, 0, 64, 64>, array<i64: 1, 6, 128, 0, 64, 64>, array<i64: 2, 6, 128, 0, 64, 64>]
// A round of the full barrier: one thread arrives. Of the empty one: four warps do.
// CHECK: scf.if
// CHECK-DAG: nvvm.mbarrier.init %{{.*}}, %[[ONE:.*]] : !llvm.ptr<3>, i32
// CHECK-DAG: nvvm.mbarrier.init %{{.*}}, %[[FOUR:.*]] : !llvm.ptr<3>, i32
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: arith.cmpi ult, %[[WARP]]
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: scf.for
// Two rounds ahead of the first wait: the parity before the first.
// CHECK: arith.xori
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[A]], %{{.*}}, box
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[B]], %{{.*}}, box
// CHECK-NOT: setmaxregister
// CHECK: nvvm.setmaxregister increase 232
tile.kernel @product(%a_: memref<64x?xf16, strided<[?, 1]>>, %b_: memref<?x64xf16>, %c_: memref<64x64xf16>)
    attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32, registers = 128 : i32} {
  %c0 = arith.constant 0 : index
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<64x?xf16, strided<[?, 1]>>
  %b = tile.assume %b_ align 16 : memref<?x64xf16>
  %c = tile.assume %c_ align 16 : memref<64x64xf16>
  %A = tile.view %a : memref<64x?xf16, strided<[?, 1]>> to !tile.view<64x64xf16>
  %B = tile.view %b : memref<?x64xf16> to !tile.view<64x64xf16>
  %C = tile.view %c : memref<64x64xf16> to !tile.view<64x64xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<64x64xf16>
  %As = tile.alloc : !tile.buffer<64x64xf16, #sa, shared, stages = 2>
  %Bs = tile.alloc : !tile.buffer<64x64xf16, #sb, shared, stages = 2>
  %Cs = tile.alloc : !tile.buffer<64x64xf16, #sa, shared>
  %full = tile.alloc : !tile.barrier<2>
  %empty = tile.alloc : !tile.barrier<2>
  tile.warp_specialize captures(%A, %B, %C, %As, %Bs, %Cs, %full, %empty, %nk
      : !tile.view<64x64xf16>, !tile.view<64x64xf16>, !tile.view<64x64xf16>, !tile.buffer<64x64xf16, #sa, shared, stages = 2>,
        !tile.buffer<64x64xf16, #sb, shared, stages = 2>, !tile.buffer<64x64xf16, #sa, shared>, !tile.barrier<2>,
        !tile.barrier<2>, index)
  partition "load" warps(4) registers(40) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %2 = arith.constant 2 : index
    scf.for %k = %0 to %nk step %1 {
      %x = tile.slot %As[%k] : !tile.buffer<64x64xf16, #sa, shared, stages = 2>
      %w = tile.slot %Bs[%k] : !tile.buffer<64x64xf16, #sb, shared, stages = 2>
      %free = arith.subi %k, %2 : index
      tile.barrier_wait %empty[%free] : !tile.barrier<2>
      tile.barrier_arrive %full[%k] expect 16384 : !tile.barrier<2>
      tile.copy_async %A[%0, %k] to %x engine "tma" signals %full[%k]
          : !tile.view<64x64xf16> to !tile.buffer<64x64xf16, #sa, shared>, !tile.barrier<2>
      tile.copy_async %B[%k, %0] to %w engine "tma" signals %full[%k]
          : !tile.view<64x64xf16> to !tile.buffer<64x64xf16, #sb, shared>, !tile.barrier<2>
    }
    tile.yield
  }
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: nvvm.wgmma.fence.aligned
  // CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}}<m = 64, n = 64, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <row>]
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 1;", "=f,=f
  // An arrival of a round that may not exist.
  // CHECK: nvvm.bar.warp.sync
  // CHECK: scf.if
  // CHECK: nvvm.mbarrier.arrive
  // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;"
  // CHECK: nvvm.fence.proxy
  // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
  // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[C]]
  // CHECK: nvvm.cp.async.bulk.commit.group
  // CHECK: nvvm.cp.async.bulk.wait_group 0
  partition "multiply" warps(4) registers(232) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    %acc = scf.for %k = %0 to %nk step %1 iter_args(%t = %zero) -> (tensor<64x64xf32, #acc>) {
      %x = tile.slot %As[%k] : !tile.buffer<64x64xf16, #sa, shared, stages = 2>
      %w = tile.slot %Bs[%k] : !tile.buffer<64x64xf16, #sb, shared, stages = 2>
      tile.barrier_wait %full[%k] : !tile.barrier<2>
      %u = tile.mma_async %x, %w, %t atom "wgmma.m64n64k16"
          : !tile.buffer<64x64xf16, #sa, shared>, !tile.buffer<64x64xf16, #sb, shared> -> tensor<64x64xf32, #acc>
      %v = tile.mma_wait %u pending 1 : tensor<64x64xf32, #acc>
      %before = arith.subi %k, %1 : index
      tile.barrier_arrive %empty[%before] : !tile.barrier<2>
      scf.yield %v : tensor<64x64xf32, #acc>
    }
    %done = tile.mma_wait %acc pending 0 : tensor<64x64xf32, #acc>
    %h = arith.truncf %done : tensor<64x64xf32, #acc> to tensor<64x64xf16, #acc>
    tile.store %h, %Cs : tensor<64x64xf16, #acc>, !tile.buffer<64x64xf16, #sa, shared>
    tile.fence async
    tile.sync
    %out = tile.copy_async %Cs to %C[%0, %0] engine "tma" : !tile.buffer<64x64xf16, #sa, shared> to !tile.view<64x64xf16>
    tile.wait %out
    tile.yield
  }
  tile.return
}

// Sums that begin with zeros are not read: the first step of k says so (scale-d), with A in shared memory and in
// registers. The number of the group of warps is computed ahead of the loop.
// CHECK-LABEL: llvm.func @from_zero(
// CHECK: nvvm.shfl.sync idx
// CHECK: scf.for
// CHECK-NOT: nvvm.shfl.sync
// CHECK: nvvm.wgmma.mma_async {{.*}}<m = 64, n = 64, k = 16>, D[<f32>, <zero>], A[<f16>, <one>, <row>]
// CHECK-COUNT-3: nvvm.wgmma.mma_async {{.*}}D[<f32>, <one>]
// CHECK-NOT: nvvm.wgmma.mma_async
// CHECK: llvm.inline_asm {{.*}}setp.ne.b32 p, 0, 0;\0Awgmma.mma_async
// CHECK-COUNT-3: llvm.inline_asm {{.*}}setp.ne.b32 p, 1, 0;\0Awgmma.mma_async
#two = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16, 2:d0*64]>
#sa2 = #tile.layout<offset [64:d1, 8:d0+d1*8, 16:d0*8]>
tile.kernel @from_zero(%c: memref<128x64xf16>, %n: index)
    attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #two>
  %As = tile.alloc : !tile.buffer<128x64xf16, #sa2, shared>
  %Bs = tile.alloc : !tile.buffer<64x64xf16, #sb, shared>
  %C = tile.view %c : memref<128x64xf16> to !tile.view<128x64xf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<128x64xf32, #two>) {
    %u = tile.mma_async %As, %Bs, %zero atom "wgmma.m64n64k16"
        : !tile.buffer<128x64xf16, #sa2, shared>, !tile.buffer<64x64xf16, #sb, shared> -> tensor<128x64xf32, #two>
    %v = tile.mma_wait %u pending 0 : tensor<128x64xf32, #two>
    %h = arith.truncf %v : tensor<128x64xf32, #two> to tensor<128x64xf16, #two>
    %w = tile.mma_async %h, %Bs, %zero atom "wgmma.m64n64k16"
        : tensor<128x64xf16, #two>, !tile.buffer<64x64xf16, #sb, shared> -> tensor<128x64xf32, #two>
    %x = tile.mma_wait %w pending 0 : tensor<128x64xf32, #two>
    scf.yield %x : tensor<128x64xf32, #two>
  }
  %o = arith.truncf %r : tensor<128x64xf32, #two> to tensor<128x64xf16, #two>
  tile.store %o, %C[%c0, %c0] : tensor<128x64xf16, #two>, !tile.view<128x64xf16>
  tile.return
}
