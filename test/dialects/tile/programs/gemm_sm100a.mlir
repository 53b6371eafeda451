// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin

// What:   the GEMM for sm_100a: tile 128x256x64 f16 -> f32, TMA into three stages, tcgen05 with its sums in tensor memory.
// Level:  scheduled kernel.
// Shows:  a buffer in tensor memory: rows in lanes, columns in words; a product that signals a barrier, and takes the place of
//         what is there in the first round; an arrival once all products are done; a load that eight warps share.

#sa  = #tile.layout<offset [64:d1, 8:d0+d1*8, 16:d0*8]>
#sb  = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8, 4:d1*64]>
#sc  = #tile.layout<offset [64:d1, 8:d0+d1*8, 16:d0*8, 4:d1*64]>
#tm  = #tile.layout<offset [256:d1, 128:d0]>
#acc = #tile.layout<reg [128:d1], lane [32:d0], warp [4:d0*32, 2:d1*128]>

tile.kernel @gemm(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf16>)
    attributes {machine = #tile.machine<"sm_100a">, warps = 12 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x64xf16>
  %B = tile.view %b : memref<?x?xf16> to !tile.view<64x256xf16>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x256xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x64xf16>

  %As = tile.alloc : !tile.buffer<128x64xf16, #sa, shared, stages = 3>
  %Bs = tile.alloc : !tile.buffer<64x256xf16, #sb, shared, stages = 3>
  %Cs = tile.alloc : !tile.buffer<128x256xf16, #sc, shared>
  %sums = tile.alloc : !tile.buffer<128x256xf32, #tm, tmem>
  %full = tile.alloc : !tile.barrier<3, arrivals = 1>
  %empty = tile.alloc : !tile.barrier<3, arrivals = 1>
  %done = tile.alloc : !tile.barrier<1, arrivals = 1>

  tile.warp_specialize captures(%A, %B, %C, %As, %Bs, %Cs, %sums, %full, %empty, %done, %i, %j, %nk
      : !tile.view<128x64xf16>, !tile.view<64x256xf16>, !tile.view<128x256xf16>, !tile.buffer<128x64xf16, #sa, shared, stages = 3>,
        !tile.buffer<64x256xf16, #sb, shared, stages = 3>, !tile.buffer<128x256xf16, #sc, shared>, !tile.buffer<128x256xf32, #tm, tmem>,
        !tile.barrier<3, arrivals = 1>, !tile.barrier<3, arrivals = 1>, !tile.barrier<1, arrivals = 1>, index, index, index)
  partition "load" warps(2) {
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
  partition "multiply" warps(2) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %k = %c0 to %nk step %c1 {
      %x = tile.slot %As[%k] : !tile.buffer<128x64xf16, #sa, shared, stages = 3>
      %w = tile.slot %Bs[%k] : !tile.buffer<64x256xf16, #sb, shared, stages = 3>
      tile.barrier_wait %full[%k] : !tile.barrier<3, arrivals = 1>
      %adds = arith.cmpi sgt, %k, %c0 : index
      tile.mma_async %x, %w, %sums atom "tcgen05.m128n256k16" adds %adds signals %empty[%k]
          : !tile.buffer<128x64xf16, #sa, shared>, !tile.buffer<64x256xf16, #sb, shared>, !tile.barrier<3, arrivals = 1> -> !tile.buffer<128x256xf32, #tm, tmem>
    }
    tile.barrier_arrive %done[%c0] products : !tile.barrier<1, arrivals = 1>
    tile.yield
  }
  partition "finish" warps(8) {
    %c0 = arith.constant 0 : index
    tile.barrier_wait %done[%c0] : !tile.barrier<1, arrivals = 1>
    %t = tile.load %sums : !tile.buffer<128x256xf32, #tm, tmem> -> tensor<128x256xf32, #acc>
    %h = arith.truncf %t : tensor<128x256xf32, #acc> to tensor<128x256xf16, #acc>
    tile.store %h, %Cs : tensor<128x256xf16, #acc>, !tile.buffer<128x256xf16, #sc, shared>
    tile.fence async
    tile.sync
    %out = tile.copy_async %Cs to %C[%i, %j] engine "tma" : !tile.buffer<128x256xf16, #sc, shared> to !tile.view<128x256xf16>
    tile.wait %out
    tile.yield
  }
  tile.return
}

// CHECK: %{{.*}} = tile.alloc : !tile.buffer<128x256xf32, #{{.*}}, tmem>
// CHECK: tile.mma_async %{{.*}}, %{{.*}}, %{{.*}} atom "tcgen05.m128n256k16" adds %{{.*}} signals %{{.*}}[%{{.*}}] :
// CHECK: tile.barrier_arrive %{{.*}}[%{{.*}}] products : !tile.barrier<1>
// CHECK: tile.load %{{.*}} : !{{.*}} -> tensor<128x256xf32, #{{.*}}>
