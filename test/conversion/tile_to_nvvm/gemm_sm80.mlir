// The GEMM of 4 warps and three stages: asynchronous copies of 16 bytes that write zeros past the edge, groups counted
// through the loop (one may be under way while another is used), mma.sync on fragments.
// RUN: %tile_opt %s --convert-tile-to-nvvm=chip=sm_80 | FileCheck %s
// CHECK: llvm.mlir.global internal @gemm_bias_relu_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<49152 x i8>
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache =  cg, %{{.*}} : !llvm.ptr<3>, !llvm.ptr<1>, i32
// CHECK-COUNT-2: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: nvvm.barrier0
// CHECK: nvvm.cp.async.commit.group
// Fragments are read step by step of K.
// CHECK-COUNT-8: nvvm.ldmatrix
// CHECK-COUNT-32: nvvm.mma.sync
// CHECK-COUNT-8: nvvm.ldmatrix
// CHECK-NOT: nvvm.ldmatrix
// CHECK-COUNT-32: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: nvvm.cp.async.wait.group 0





#acc  = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:d1*64]>
#lhs  = #tile.layout<reg [2:d1, 2:d0*8, 4:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:_]>
#rhs  = #tile.layout<reg [2:d0, 4:d0*8, 8:d1*8], lane [4:d0*2, 8:d1], warp [2:_, 2:d1*64]>
#col  = #tile.layout<reg [2:d0, 8:d0*8], lane [4:d0*2, 8:_], warp [2:_, 2:d0*64]>
#wide = #tile.layout<reg [8:d1, 16:d0*8], lane [16:d1*8, 2:d0], warp [4:d0*2]>
#sa   = #tile.layout<offset [32:d1, 2:d0, 4:d0*2+d1*8, 16:d0*8]>
#sb   = #tile.layout<offset [128:d1, 8:d0+d1*8, 4:d0*8]>

tile.kernel @gemm_bias_relu(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %bias: memref<?xf32>, %c: memref<?x?xf16>)
    attributes {machine = #tile.machine<"sm_80">, warps = 4 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x32xf16>
  %B = tile.view %b : memref<?x?xf16> to !tile.view<32x128xf16>
  %V = tile.view %bias : memref<?xf32> to !tile.view<128xf32>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x32xf16>

  %As = tile.alloc : !tile.buffer<128x32xf16, #sa, shared, stages = 3>
  %Bs = tile.alloc : !tile.buffer<32x128xf16, #sb, shared, stages = 3>

  %A0 = tile.slot %As[%c0] : !tile.buffer<128x32xf16, #sa, shared, stages = 3>
  %B0 = tile.slot %Bs[%c0] : !tile.buffer<32x128xf16, #sb, shared, stages = 3>
  %ta0 = tile.copy_async %A[%i, %c0] to %A0 : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #sa, shared>
  %tb0 = tile.copy_async %B[%c0, %j] to %B0 : !tile.view<32x128xf16> to !tile.buffer<32x128xf16, #sb, shared>
  %t0 = tile.join %ta0, %tb0
  %A1 = tile.slot %As[%c1] : !tile.buffer<128x32xf16, #sa, shared, stages = 3>
  %B1 = tile.slot %Bs[%c1] : !tile.buffer<32x128xf16, #sb, shared, stages = 3>
  %ta1 = tile.copy_async %A[%i, %c1] to %A1 : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #sa, shared>
  %tb1 = tile.copy_async %B[%c1, %j] to %B1 : !tile.view<32x128xf16> to !tile.buffer<32x128xf16, #sb, shared>
  %t1 = tile.join %ta1, %tb1

  %r:3 = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %zero, %now = %t0, %next = %t1)
      -> (tensor<128x128xf32, #acc>, !tile.token, !tile.token) {
    tile.wait %now                 // my part of tile k has landed
    tile.sync                      // so has everybody's, and all have read tile k-1
    %ahead = arith.addi %k, %c2 : index
    %Ai = tile.slot %As[%ahead] : !tile.buffer<128x32xf16, #sa, shared, stages = 3>
    %Bi = tile.slot %Bs[%ahead] : !tile.buffer<32x128xf16, #sb, shared, stages = 3>
    %ta = tile.copy_async %A[%i, %ahead] to %Ai : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #sa, shared>
    %tb = tile.copy_async %B[%ahead, %j] to %Bi : !tile.view<32x128xf16> to !tile.buffer<32x128xf16, #sb, shared>
    %t2 = tile.join %ta, %tb

    %Ao = tile.slot %As[%k] : !tile.buffer<128x32xf16, #sa, shared, stages = 3>
    %Bo = tile.slot %Bs[%k] : !tile.buffer<32x128xf16, #sb, shared, stages = 3>
    %x = tile.load %Ao : !tile.buffer<128x32xf16, #sa, shared> -> tensor<128x32xf16, #lhs>     // ldmatrix.x4
    %w = tile.load %Bo : !tile.buffer<32x128xf16, #sb, shared> -> tensor<32x128xf16, #rhs>     // ldmatrix.x4.trans
    %m = tile.mma %x, %w, %s atom "mma.sync.m16n8k16"
        : tensor<128x32xf16, #lhs>, tensor<32x128xf16, #rhs> -> tensor<128x128xf32, #acc>
    scf.yield %m, %next, %t2 : tensor<128x128xf32, #acc>, !tile.token, !tile.token
  }
  tile.wait %r#1, %r#2             // copies past the edge are still in flight: a buffer may not die before its tokens

  %v = tile.load %V[%j] : !tile.view<128xf32> -> tensor<128xf32, #col>
  %vb = tile.broadcast %v axes [0] : tensor<128xf32, #col> -> tensor<128x128xf32, #acc>
  %sum = arith.addf %r#0, %vb : tensor<128x128xf32, #acc>
  %pos = arith.maximumf %sum, %zero : tensor<128x128xf32, #acc>
  %h = arith.truncf %pos : tensor<128x128xf32, #acc> to tensor<128x128xf16, #acc>
  %o = tile.convert_layout %h : tensor<128x128xf16, #acc> -> tensor<128x128xf16, #wide>
  tile.store %o, %C[%i, %j] : tensor<128x128xf16, #wide>, !tile.view<128x128xf16>
  tile.return
}
