// 2 of 4 by the sparse instruction of each chip, whose metadata are the bytes of places as they lie in its lanes; dense
// where a chip has none. test/run/kernels/every_atom.py runs all of them.
// RUN: %tile_opt %s --tile-to-nvvm-pipeline=chip=sm_80 | FileCheck %s --check-prefix=NVVM
// RUN: %tile_translate %s --tile-to-ptx --chip=sm_80 | FileCheck %s --check-prefix=PTX
// RUN: %tile_translate %s --tile-to-ptx --chip=sm_100a | FileCheck %s --check-prefix=ORDERED
// RUN: %tile_translate %s --tile-to-amdgcn --chip=gfx942 | FileCheck %s --check-prefix=CDNA
// RUN: %tile_translate %s --tile-to-amdgcn --chip=gfx1100 | FileCheck %s --check-prefix=DENSE

// NVVM-LABEL: llvm.func @halves
// NVVM: llvm.bitcast %{{.*}} : vector<4xi8> to i32
// NVVM: nvvm.mma.sp.sync
// PTX-LABEL: .entry halves
// PTX: mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32
// PTX-LABEL: .entry bytes
// PTX: mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32
// ORDERED: mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32
// CDNA: v_smfmac_f32_{{32x32x16|16x16x32}}_f16
// CDNA: v_smfmac_i32_{{32x32x32|16x16x64}}_i8
// DENSE: v_wmma_f32_16x16x16_f16
// DENSE: v_wmma_i32_16x16x16_iu8
tile.kernel @halves(%a: memref<32x32xf16>, %p: memref<32x8xi8>, %b: memref<64x32xf16>, %c: memref<32x32xf32>) {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<32x32xf16> to !tile.view<32x32xf16>
  %P = tile.view %p : memref<32x8xi8> to !tile.view<32x8xi8>
  %B = tile.view %b : memref<64x32xf16> to !tile.view<64x32xf16>
  %C = tile.view %c : memref<32x32xf32> to !tile.view<32x32xf32>
  %x = tile.load %A[%0, %0] : !tile.view<32x32xf16> -> tensor<32x32xf16>
  %at = tile.load %P[%0, %0] : !tile.view<32x8xi8> -> tensor<32x8xi8>
  %y = tile.load %B[%0, %0] : !tile.view<64x32xf16> -> tensor<64x32xf16>
  %z = tile.load %C[%0, %0] : !tile.view<32x32xf32> -> tensor<32x32xf32>
  %d = tile.mma_sparse %x at %at, %y, %z : tensor<32x32xf16>, tensor<32x8xi8>, tensor<64x32xf16> -> tensor<32x32xf32>
  tile.store %d, %C[%0, %0] : tensor<32x32xf32>, !tile.view<32x32xf32>
  tile.return
}
tile.kernel @bytes(%a: memref<32x32xi8>, %p: memref<32x8xi8>, %b: memref<64x32xi8>, %c: memref<32x32xi32>) {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<32x32xi8> to !tile.view<32x32xi8>
  %P = tile.view %p : memref<32x8xi8> to !tile.view<32x8xi8>
  %B = tile.view %b : memref<64x32xi8> to !tile.view<64x32xi8>
  %C = tile.view %c : memref<32x32xi32> to !tile.view<32x32xi32>
  %x = tile.load %A[%0, %0] : !tile.view<32x32xi8> -> tensor<32x32xi8>
  %at = tile.load %P[%0, %0] : !tile.view<32x8xi8> -> tensor<32x8xi8>
  %y = tile.load %B[%0, %0] : !tile.view<64x32xi8> -> tensor<64x32xi8>
  %z = tile.load %C[%0, %0] : !tile.view<32x32xi32> -> tensor<32x32xi32>
  %d = tile.mma_sparse %x at %at, %y, %z : tensor<32x32xi8>, tensor<32x8xi8>, tensor<64x32xi8> -> tensor<32x32xi32>
  tile.store %d, %C[%0, %0] : tensor<32x32xi32>, !tile.view<32x32xi32>
  tile.return
}
