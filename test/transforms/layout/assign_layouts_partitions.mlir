// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts,tile-exchange-in-shared-memory,tile-plan-shared-memory))' | FileCheck %s --check-prefix=PLAN

// Tiles of a partition get layouts over the partition's warps. The accumulator has the atom's fragment, and the kernel
// keeps its warps. The captured view's facts are known: a thread stores 16 bytes at once.
// CHECK: #[[COLUMNS:.*]] = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8], lane [4:d1*2, 8:d0], warp [8:d0*16]>
// CHECK: #[[ROWS:.*]] = #tile.layout<reg [8:d1, 4:d0*32], lane [8:d1*8, 4:d0], warp [8:d0*4]>
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: warps = 12
// CHECK: scf.for {{.*}} -> (tensor<128x64xf32, #[[COLUMNS]]>)
// CHECK: tile.mma_async {{.*}} -> tensor<128x64xf32, #[[COLUMNS]]>
// CHECK-NEXT: tile.mma_wait {{.*}} pending 1 : tensor<128x64xf32, #[[COLUMNS]]>
// CHECK: tile.mma_wait {{.*}} pending 0 : tensor<128x64xf32, #[[COLUMNS]]>
// CHECK: tile.store {{.*}} : tensor<128x64xf16, #[[ROWS]]>
// The exchange between the partition's threads has a place of its own.
// PLAN: tile.warp_specialize
// PLAN: tile.alloc at 16384 :
#sa = #tile.layout<offset [64:d1, 8:d0+d1*8, 16:d0*8]>
#sb = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
tile.kernel @product(%c_: memref<?x64xf16>, %n: index) attributes {machine = #tile.machine<"sm_90a">, warps = 12 : i32} {
  %c = tile.assume %c_ align 16 : memref<?x64xf16>
  %C = tile.view %c : memref<?x64xf16> to !tile.view<128x64xf16>
  %i = tile.program_id 0
  %x = tile.alloc : !tile.buffer<128x64xf16, #sa, shared>
  %y = tile.alloc : !tile.buffer<64x64xf16, #sb, shared>
  tile.warp_specialize captures(%C, %x, %y, %i, %n : !tile.view<128x64xf16>, !tile.buffer<128x64xf16, #sa, shared>,
                                !tile.buffer<64x64xf16, #sb, shared>, index, index)
  partition "nothing" warps(4) {
    tile.yield
  }
  partition "multiply" warps(8) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %start = arith.constant dense<0.0> : tensor<128x64xf32>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%t = %start) -> (tensor<128x64xf32>) {
      %u = tile.mma_async %x, %y, %t atom "wgmma.m64n64k16"
          : !tile.buffer<128x64xf16, #sa, shared>, !tile.buffer<64x64xf16, #sb, shared> -> tensor<128x64xf32>
      %v = tile.mma_wait %u pending 1 : tensor<128x64xf32>
      scf.yield %v : tensor<128x64xf32>
    }
    %done = tile.mma_wait %sum pending 0 : tensor<128x64xf32>
    %narrow = arith.truncf %done : tensor<128x64xf32> to tensor<128x64xf16>
    tile.store %narrow, %C[%i, %c0] : tensor<128x64xf16>, !tile.view<128x64xf16>
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @two_partitions(%a: memref<64xf32>) attributes {machine = #tile.machine<"sm_90a">, warps = 12 : i32} {
  %A = tile.view %a : memref<64xf32> to !tile.view<64xf32>
  tile.warp_specialize captures(%A : !tile.view<64xf32>)
  partition "first" warps(4) {
    %c0 = arith.constant 0 : index
    // expected-note@+1 {{the first tile is made here}}
    %x = tile.load %A[%c0] : !tile.view<64xf32> -> tensor<64xf32>
    tile.yield
  }
  partition "second" warps(8) {
    %c0 = arith.constant 0 : index
    // expected-error@+1 {{makes a tile on 8 warps, but the kernel's first tile is on 4; layouts are for tiles of one partition}}
    %x = tile.load %A[%c0] : !tile.view<64xf32> -> tensor<64xf32>
    tile.yield
  }
  tile.return
}

// -----

#sa = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
tile.kernel @few_warps(%n: index) attributes {machine = #tile.machine<"sm_90a">, warps = 2 : i32} {
  %x = tile.alloc : !tile.buffer<64x64xf16, #sa, shared>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{atom "wgmma.m64n64k16" runs on 4 warps together; the product has 2}}
  %u = tile.mma_async %x, %x, %zero atom "wgmma.m64n64k16" : !tile.buffer<64x64xf16, #sa, shared>, !tile.buffer<64x64xf16, #sa, shared> -> tensor<64x64xf32>
  %v = tile.mma_wait %u pending 0 : tensor<64x64xf32>
  tile.return
}

// -----

#sa = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
tile.kernel @many_warps(%n: index) attributes {machine = #tile.machine<"sm_90a">, warps = 32 : i32} {
  %x = tile.alloc : !tile.buffer<64x64xf16, #sa, shared>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  // expected-error@+1 {{atom "wgmma.m64n64k16" does not divide 64 x 64 x 64 among 32 warps}}
  %u = tile.mma_async %x, %x, %zero atom "wgmma.m64n64k16" : !tile.buffer<64x64xf16, #sa, shared>, !tile.buffer<64x64xf16, #sa, shared> -> tensor<64x64xf32>
  %v = tile.mma_wait %u pending 0 : tensor<64x64xf32>
  tile.return
}
