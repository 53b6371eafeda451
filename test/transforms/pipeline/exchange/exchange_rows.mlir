// Fragments of 16-bit elements on their way to memory: threads store 16 bytes of a row, and ldmatrix brings 8 neighbours of
// a row to one thread. A quarter of the stores, no bank conflicts, and the same bits.
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-exchange-in-shared-memory{chip=sm_80}))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-exchange-in-shared-memory{chip=sm_90a}))' | FileCheck %s --check-prefix=STMATRIX
// RUN: %tile_opt %s --split-input-file --tile-to-nvvm-pipeline=chip=sm_80 --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT
// RUN: %tile_run %S/Inputs/exchange_rows.mlir --target=emulate:sm_80 --check-against=interpret --stats=%t.json | FileCheck %s --check-prefix=RIGHT
// RUN: FileCheck %s --check-prefix=STATS < %t.json
// RUN: %tile_run %S/Inputs/exchange_rows.mlir --entry=odd --target=emulate:sm_80 --check-against=interpret | FileCheck %s --check-prefix=RIGHT
// COUNT: 1 matrices
// RIGHT: result 0: right
// STATS: "shared_bank_conflicts": 0,

#fragment = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16]>
#wide = #tile.layout<reg [8:d1, 4:d0*16], lane [8:d1*8, 4:d0], warp [4:d0*4]>

// CHECK: #[[MEMORY:layout.*]] = #tile.layout<offset [2:d1, 4:d1*8, 4:d1*2, 2:d0, 4:d0*2+d1*2,
// CHECK: #[[ROWS:layout.*]] = #tile.layout<reg [8:d1, 2:d1*32, 2:d0*8], lane [4:d1*8, 8:d0], warp [4:d0*16]>
// CHECK: !buffer = !tile.buffer<64x64xf16, #[[MEMORY]], local>
// CHECK-LABEL: tile.kernel @fragment
// CHECK: %[[B:.*]] = tile.alloc : !
// CHECK-NEXT: tile.store %{{.*}}, %[[B]]
// CHECK-NEXT: %[[C:.*]] = tile.load %[[B]] : !{{.*}} -> tensor<64x64xf16, #[[ROWS]]>
// CHECK-NEXT: tile.store %[[C]], %{{.*}} : tensor<64x64xf16, #[[ROWS]]>
// STMATRIX: #[[WIDE:layout.*]] = #tile.layout<reg [8:d1, 4:d0*16], lane [8:d1*8, 4:d0], warp [4:d0*4]>
// STMATRIX-LABEL: tile.kernel @fragment
// STMATRIX: tile.load %{{.*}} : !{{.*}} -> tensor<64x64xf16, #[[WIDE]]>
tile.kernel @fragment(%x: memref<64x64xf32>, %y: memref<64x64xf16>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %y_ = tile.assume %y align 16 : memref<64x64xf16>
  %X = tile.view %x : memref<64x64xf32> to !tile.view<64x64xf32>
  %Y = tile.view %y_ : memref<64x64xf16> to !tile.view<64x64xf16>
  %a = tile.load %X[%c0, %c0] : !tile.view<64x64xf32> -> tensor<64x64xf32, #fragment>
  %h = arith.truncf %a : tensor<64x64xf32, #fragment> to tensor<64x64xf16, #fragment>
  %b = tile.convert_layout %h : tensor<64x64xf16, #fragment> -> tensor<64x64xf16, #wide>
  tile.store %b, %Y[%c0, %c0] : tensor<64x64xf16, #wide>, !tile.view<64x64xf16>
  tile.return
}

// -----

#fragment = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16]>
#wide = #tile.layout<reg [8:d1, 4:d0*16], lane [8:d1*8, 4:d0], warp [4:d0*4]>

// Memory that may begin anywhere takes no 16 bytes at once, and f32 is no 16-bit element: the tiles keep their layout.
// CHECK-LABEL: tile.kernel @stays
// CHECK-NOT: reg [8:d1, 2:d1*32
// CHECK: tile.return
tile.kernel @stays(%x: memref<64x64xf32>, %y: memref<64x64xf16>, %z: memref<64x64xf32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<64x64xf32> to !tile.view<64x64xf32>
  %Y = tile.view %y : memref<64x64xf16> to !tile.view<64x64xf16>
  %z_ = tile.assume %z align 16 : memref<64x64xf32>
  %Z = tile.view %z_ : memref<64x64xf32> to !tile.view<64x64xf32>
  %a = tile.load %X[%c0, %c0] : !tile.view<64x64xf32> -> tensor<64x64xf32, #fragment>
  %h = arith.truncf %a : tensor<64x64xf32, #fragment> to tensor<64x64xf16, #fragment>
  %b = tile.convert_layout %h : tensor<64x64xf16, #fragment> -> tensor<64x64xf16, #wide>
  tile.store %b, %Y[%c0, %c0] : tensor<64x64xf16, #wide>, !tile.view<64x64xf16>
  %c = tile.convert_layout %a : tensor<64x64xf32, #fragment> -> tensor<64x64xf32, #wide>
  tile.store %c, %Z[%c0, %c0] : tensor<64x64xf32, #wide>, !tile.view<64x64xf32>
  tile.return
}
