// The GEMM of 4 waves of 64 lanes, one LDS stage: mfma on fragments, barriers that order memory too.
// RUN: %tile_opt %s --convert-tile-to-rocdl=chip=gfx942 | FileCheck %s
// CHECK: gpu.module @kernels [#rocdl.target<O = 3, chip = "gfx942">]
// CHECK: llvm.mlir.global internal @gemm_nt_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<16384 x i8>
// CHECK: llvm.func @gemm_nt({{.*}}) attributes {gpu.kernel, rocdl.flat_work_group_size = "256,256", rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 256, 1, 1>}
// CHECK: scf.for
// CHECK: llvm.fence syncscope("workgroup") release
// CHECK-NEXT: rocdl.s.barrier
// CHECK-NEXT: llvm.fence syncscope("workgroup") acquire
// CHECK-COUNT-16: rocdl.mfma.f32.32x32x8f16 {{.*}} : (vector<4xf16>, vector<4xf16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
// CHECK-NOT: rocdl.mfma
// CHECK: rocdl.s.barrier
#acc = #tile.layout<reg [4:d0, 4:d0*8, 2:d0*32, 2:d1*32], lane [32:d1, 2:d0*4], warp [2:d0*64, 2:d1*64]>
#lhs = #tile.layout<reg [4:d1, 4:d1*8, 2:d0*32], lane [32:d0, 2:d1*4], warp [2:d0*64, 2:_]>
#rhs = #tile.layout<reg [4:d0, 4:d0*8, 2:d1*32], lane [32:d1, 2:d0*4], warp [2:_, 2:d1*64]>
#ga  = #tile.layout<reg [8:d1, 2:d0*64], lane [4:d1*8, 16:d0], warp [4:d0*16]>
#gb  = #tile.layout<reg [8:d0, 2:d1*64], lane [4:d0*8, 16:d1], warp [4:d1*16]>
#sa  = #tile.layout<offset [32:d1, 2:d0, 8:d0*2+d1*4, 8:d0*16]>
#sb  = #tile.layout<offset [32:d0, 2:d1, 8:d1*2+d0*4, 8:d1*16]>

tile.kernel @gemm_nt(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c: memref<?x?xf32>)
    attributes {machine = #tile.machine<"gfx942">, warps = 4 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x32xf16>
  %B = tile.view %b : memref<?x?xf16> to !tile.view<32x128xf16, order = [1, 0]>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<128x128xf32>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x32xf16>
  %As = tile.alloc : !tile.buffer<128x32xf16, #sa, shared>
  %Bs = tile.alloc : !tile.buffer<32x128xf16, #sb, shared>
  %a0 = tile.load %A[%i, %c0] : !tile.view<128x32xf16> -> tensor<128x32xf16, #ga>
  %b0 = tile.load %B[%c0, %j] : !tile.view<32x128xf16, order = [1, 0]> -> tensor<32x128xf16, #gb>

  %r:3 = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %zero, %x = %a0, %w = %b0)
      -> (tensor<128x128xf32, #acc>, tensor<128x32xf16, #ga>, tensor<32x128xf16, #gb>) {
    tile.store %x, %As : tensor<128x32xf16, #ga>, !tile.buffer<128x32xf16, #sa, shared>
    tile.store %w, %Bs : tensor<32x128xf16, #gb>, !tile.buffer<32x128xf16, #sb, shared>
    tile.sync
    %next = arith.addi %k, %c1 : index
    %x1 = tile.load %A[%i, %next] : !tile.view<128x32xf16> -> tensor<128x32xf16, #ga>
    %w1 = tile.load %B[%next, %j] : !tile.view<32x128xf16, order = [1, 0]> -> tensor<32x128xf16, #gb>
    %p = tile.load %As : !tile.buffer<128x32xf16, #sa, shared> -> tensor<128x32xf16, #lhs>
    %q = tile.load %Bs : !tile.buffer<32x128xf16, #sb, shared> -> tensor<32x128xf16, #rhs>
    %t = tile.mma %p, %q, %s atom "mfma.32x32x8" : tensor<128x32xf16, #lhs>, tensor<32x128xf16, #rhs> -> tensor<128x128xf32, #acc>
    tile.sync
    scf.yield %t, %x1, %w1 : tensor<128x128xf32, #acc>, tensor<128x32xf16, #ga>, tensor<32x128xf16, #gb>
  }
  tile.store %r#0, %C[%i, %j] : tensor<128x128xf32, #acc>, !tile.view<128x128xf32>
  tile.return
}
