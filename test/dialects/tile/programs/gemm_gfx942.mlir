// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   GEMM with B stored [n, k], tile 128x128x32 f16 -> f32, for gfx942: 4 waves of 64 lanes as 2x2, mfma 32x32x8, one LDS stage.
// Level:  scheduled kernel.
// Shows:  the same ops with other layouts: prefetch through registers (loads are asynchronous until used), LDS by tile.store / tile.load,
//         two tile.sync per step; a lane has 6 bits here; nothing names AMD but the machine and the atom.

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

// CHECK: #tile.machine<"gfx942">
// CHECK: tile.store %{{.*}}, %{{.*}} : tensor<128x32xf16, #{{.*}}>, !buffer
// CHECK: atom "mfma.32x32x8"
