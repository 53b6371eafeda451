// On CDNA the sum of a product whose factors are exchanged lies as the next product takes its left factor: weights stay
// in the registers of their thread. A product that is stored as it comes goes out in accesses of 16 bytes.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts{chip=gfx942}))' | FileCheck %s
// RUN: %tile_translate %s --tile-to-amdgcn --chip=gfx942 | FileCheck %s --check-prefix=CODE

// CHECK-LABEL: tile.kernel @two
// CHECK: %[[S:.*]] = tile.mma {{.*}} atom "mfma.32x32x8.swapped"
// CHECK-NEXT: %[[P:.*]] = arith.truncf %[[S]]
// CHECK: tile.mma %[[P]],
// CODE-LABEL: two:
// CODE: v_mfma_f32_32x32x8_f16
// CODE: s_endpgm
tile.kernel @two(%q: memref<64x64xf16>, %k: memref<64x64xf16>, %v: memref<64x64xf16>, %o: memref<64x64xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %qa = tile.assume %q align 16 : memref<64x64xf16>
  %ka = tile.assume %k align 16 : memref<64x64xf16>
  %va = tile.assume %v align 16 : memref<64x64xf16>
  %oa = tile.assume %o align 16 : memref<64x64xf32>
  %Q = tile.view %qa : memref<64x64xf16> to !tile.view<64x64xf16>
  %K = tile.view %ka : memref<64x64xf16> to !tile.view<64x64xf16, order = [1, 0]>
  %V = tile.view %va : memref<64x64xf16> to !tile.view<64x64xf16>
  %O = tile.view %oa : memref<64x64xf32> to !tile.view<64x64xf32>
  %x = tile.load %Q[%c0, %c0] : !tile.view<64x64xf16> -> tensor<64x64xf16>
  %y = tile.load %K[%c0, %c0] : !tile.view<64x64xf16, order = [1, 0]> -> tensor<64x64xf16>
  %s = tile.mma %x, %y, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %w = tile.load %V[%c0, %c0] : !tile.view<64x64xf16> -> tensor<64x64xf16>
  %r = tile.mma %p, %w, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store %r, %O[%c0, %c0] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}

// CODE-LABEL: dynamic:
// CODE-NOT: global_store_short
// CODE: global_store_dwordx4
// CODE-NOT: global_store_short
// CODE: s_endpgm
tile.kernel @dynamic(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %aa = tile.assume %a align 16 strides [8, 1] : memref<?x?xf16>
  %ba = tile.assume %b align 16 strides [8, 1] : memref<?x?xf16>
  %ca = tile.assume %c align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %aa : memref<?x?xf16> to !tile.view<128x32xf16>
  %B = tile.view %ba : memref<?x?xf16> to !tile.view<32x128xf16>
  %C = tile.view %ca : memref<?x?xf16> to !tile.view<128x128xf16>
  %steps = tile.num_tiles %A dim 1 : !tile.view<128x32xf16>
  %r = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %zero) -> (tensor<128x128xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<128x32xf16> -> tensor<128x32xf16>
    %y = tile.load %B[%k, %j] : !tile.view<32x128xf16> -> tensor<32x128xf16>
    %m = tile.mma %x, %y, %s : tensor<128x32xf16>, tensor<32x128xf16> -> tensor<128x128xf32>
    scf.yield %m : tensor<128x128xf32>
  }
  %h = arith.truncf %r : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
  tile.return
}
