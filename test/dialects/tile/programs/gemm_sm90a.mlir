// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   the GEMM for sm_90a: tile 128x256x64 f16 -> f32, TMA into three stages, wgmma, one producer and two consumer warpgroups.
// Level:  scheduled kernel.
// Shows:  warp specialization as isolated regions; mbarriers as values (arrivals counted per partition, initialized where allocated);
//         a copy that reports to a barrier instead of a token; mma_async with accumulators threaded through; epilogue through TMA store.
// Rings:  index k of a staged buffer or barrier is its k-th use: stage k mod 3, phase (k / 3) mod 2; rounds below 0 do not exist
//         (waiting for them passes, arriving at them does nothing), so pipelines start without special cases.

#acc = #tile.layout<reg [2:d1, 2:d0*8, 32:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16, 2:d0*64]>
#sa  = #tile.layout<offset [64:d1, 8:d0+d1*8, 16:d0*8]>                  // 128-byte swizzle, k contiguous
#sb  = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8, 4:d1*64]>          // 128-byte swizzle, n contiguous, four boxes of 64
#sc  = #tile.layout<offset [64:d1, 8:d0+d1*8, 16:d0*8, 4:d1*64]>

tile.kernel @gemm(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf16>)
    attributes {machine = #tile.machine<"sm_90a">, warps = 12 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x64xf16>
  %B = tile.view %b : memref<?x?xf16> to !tile.view<64x256xf16>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x256xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x64xf16>

  %As = tile.alloc : !tile.buffer<128x64xf16, #sa, shared, stages = 3>     // 3 x 16 KiB
  %Bs = tile.alloc : !tile.buffer<64x256xf16, #sb, shared, stages = 3>     // 3 x 32 KiB
  %Cs = tile.alloc : !tile.buffer<128x256xf16, #sc, shared>                //     64 KiB
  %full = tile.alloc : !tile.barrier<3, arrivals = 1>
  %empty = tile.alloc : !tile.barrier<3, arrivals = 1>

  // Isolated regions: otherwise canonicalize and cse move a partition's tile constants into code that runs with other warps.
  tile.warp_specialize captures(%A, %B, %C, %As, %Bs, %Cs, %full, %empty, %i, %j, %nk
      : !tile.view<128x64xf16>, !tile.view<64x256xf16>, !tile.view<128x256xf16>, !tile.buffer<128x64xf16, #sa, shared, stages = 3>,
        !tile.buffer<64x256xf16, #sb, shared, stages = 3>, !tile.buffer<128x256xf16, #sc, shared>,
        !tile.barrier<3, arrivals = 1>, !tile.barrier<3, arrivals = 1>, index, index, index)
  partition "load" warps(4) registers(40) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    scf.for %k = %c0 to %nk step %c1 {
      %x = tile.slot %As[%k] : !tile.buffer<128x64xf16, #sa, shared, stages = 3>
      %w = tile.slot %Bs[%k] : !tile.buffer<64x256xf16, #sb, shared, stages = 3>
      %free = arith.subi %k, %c3 : index
      tile.barrier_wait %empty[%free] : !tile.barrier<3, arrivals = 1>
      tile.barrier_arrive %full[%k] expect 49152 : !tile.barrier<3, arrivals = 1>
      tile.copy_async %A[%i, %k] to %x engine "tma" signals %full[%k]
          : !tile.view<128x64xf16> to !tile.buffer<128x64xf16, #sa, shared>, !tile.barrier<3, arrivals = 1>
      tile.copy_async %B[%k, %j] to %w engine "tma" signals %full[%k]
          : !tile.view<64x256xf16> to !tile.buffer<64x256xf16, #sb, shared>, !tile.barrier<3, arrivals = 1>
    }
    tile.yield
  }
  partition "multiply" warps(8) registers(232) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : tensor<128x256xf32, #acc>
    %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<128x256xf32, #acc>) {
      %x = tile.slot %As[%k] : !tile.buffer<128x64xf16, #sa, shared, stages = 3>
      %w = tile.slot %Bs[%k] : !tile.buffer<64x256xf16, #sb, shared, stages = 3>
      tile.barrier_wait %full[%k] : !tile.barrier<3, arrivals = 1>
      %u = tile.mma_async %x, %w, %t atom "wgmma.m64n256k16"
          : !tile.buffer<128x64xf16, #sa, shared>, !tile.buffer<64x256xf16, #sb, shared> -> tensor<128x256xf32, #acc>
      %v = tile.mma_wait %u pending 1 : tensor<128x256xf32, #acc>
      %before = arith.subi %k, %c1 : index                                // product k-1 is done: its stage is free
      tile.barrier_arrive %empty[%before] : !tile.barrier<3, arrivals = 1>
      scf.yield %v : tensor<128x256xf32, #acc>
    }
    %done = tile.mma_wait %acc pending 0 : tensor<128x256xf32, #acc>
    %h = arith.truncf %done : tensor<128x256xf32, #acc> to tensor<128x256xf16, #acc>
    tile.store %h, %Cs : tensor<128x256xf16, #acc>, !tile.buffer<128x256xf16, #sc, shared>   // stmatrix
    tile.fence async                                                      // generic writes before the TMA reads
    tile.sync                                                             // inside a partition: its own warps only
    %out = tile.copy_async %Cs to %C[%i, %j] engine "tma" : !tile.buffer<128x256xf16, #sc, shared> to !tile.view<128x256xf16>
    tile.wait %out
    tile.yield
  }
  tile.return
}

// CHECK: tile.warp_specialize captures(%{{.*}}, %{{.*}}
// CHECK: partition "load" warps(4) registers(40) {
// CHECK: tile.barrier_wait %{{.*}}[%{{.*}}] : !tile.barrier<3>
// CHECK: tile.barrier_arrive %{{.*}}[%{{.*}}] expect 49152 : !tile.barrier<3>
// CHECK: engine "tma" signals %{{.*}}[%{{.*}}] : !tile.view<128x64xf16> to !buffer{{.*}}, !tile.barrier<3>
// CHECK: partition "multiply" warps(8) registers(232) {
// CHECK: tile.mma_async %{{.*}}, %{{.*}}, %{{.*}} atom "wgmma.m64n256k16" :
// CHECK: tile.mma_wait %{{.*}} pending 1 : tensor<128x256xf32, #{{.*}}>
// CHECK: tile.fence async
// CHECK: tile.copy_async %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] engine "tma" :
