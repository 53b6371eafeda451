// RUN: %tile_opt %s --tile-print-layouts --mlir-disable-threading 2>&1 >/dev/null | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(tile.kernel(tile-print-layouts))' --mlir-disable-threading 2>&1 >/dev/null | FileCheck %s

#rows = #tile.layout<reg [8:d1], lane [2:d1*8, 16:d0], warp [2:_]>
#columns = #tile.layout<reg [8:d0], lane [2:d0*8, 16:d1], warp [2:_]>
#swapped = #tile.layout<reg [8:d1], lane [16:d0, 2:d1*8], warp [2:_]>
#wide = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
#apart = #tile.layout<reg [2:d0*64], lane [32:d0], warp [2:d0*32]>

// CHECK: kernel @moves
// CHECK: arith.constant 128 x f32 #0 2 registers, 1 copy
// CHECK: arith.constant 16x16 x f16 #1 8 registers, 2 copies
// CHECK: tile.convert_layout 16x16 x f16 #2 8 registers, 2 copies
// CHECK: from #1: shared, 512 bytes, 1 stores of 16, 8 loads of 2, 0 conflicts; 56 cycles
// CHECK: tile.convert_layout 16x16 x f16 #3 8 registers, 2 copies
// CHECK: from #1: shuffles, 4 shuffles, 0 selects; 8 cycles
// CHECK: tile.convert_layout 128 x f32 #4 2 registers, 1 copy
// CHECK: from #0: shared, 512 bytes, 1 stores of 8, 2 loads of 4, 0 conflicts
// CHECK: tile.reduce 16 x f16 #5 1 registers, 4 copies
// CHECK: #1 reg [8:d1], lane [2:d1*8, 16:d0], warp [2:_]
// CHECK: #5 lane [16:d0, 2:_], warp [2:_]
tile.kernel @moves() attributes {warps = 2 : i32} {
  %w = arith.constant dense<1.0> : tensor<128xf32, #wide>
  %a = arith.constant dense<1.0> : tensor<16x16xf16, #rows>
  %b = tile.convert_layout %a : tensor<16x16xf16, #rows> -> tensor<16x16xf16, #columns>
  %c = tile.convert_layout %a : tensor<16x16xf16, #rows> -> tensor<16x16xf16, #swapped>
  %d = tile.convert_layout %w : tensor<128xf32, #wide> -> tensor<128xf32, #apart>
  %m = tile.reduce {arith.maximumf} %c axes [1] : tensor<16x16xf16, #swapped> -> tensor<16xf16, #tile.layout<lane [16:d0, 2:_], warp [2:_]>>
  tile.return
}

// CHECK: kernel @none
// CHECK-NEXT: no layouts
tile.kernel @none() {
  tile.return
}
