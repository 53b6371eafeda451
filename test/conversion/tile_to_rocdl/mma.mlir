// Every matrix instruction that a chip's machine file has, with the operands that it takes: shapes, elements and the
// registers of a lane say which it is.
// RUN: split-file %s %t
// RUN: %tile_opt %t/mfma.mlir --convert-tile-to-rocdl=chip=gfx942 | FileCheck %s --check-prefix=GFX942
// RUN: %tile_opt %t/mfma.mlir --convert-tile-to-rocdl=chip=gfx950 | FileCheck %s --check-prefix=SAME
// RUN: %tile_opt %t/old.mlir --convert-tile-to-rocdl=chip=gfx90a | FileCheck %s --check-prefix=GFX90A
// RUN: %tile_opt %t/wide.mlir --convert-tile-to-rocdl=chip=gfx950 | FileCheck %s --check-prefix=GFX950
// RUN: %tile_opt %t/gfx11.mlir --convert-tile-to-rocdl=chip=gfx1100 | FileCheck %s --check-prefix=GFX1100
// RUN: %tile_opt %t/gfx12.mlir --convert-tile-to-rocdl=chip=gfx1201 | FileCheck %s --check-prefix=GFX1201
// What a chip lacks is an error before any code is made.
// RUN: not %tile_opt %t/old.mlir --convert-tile-to-rocdl=chip=gfx942 2>&1 | FileCheck %s --check-prefix=TYPES
// RUN: not %tile_opt %t/gfx11.mlir --convert-tile-to-rocdl=chip=gfx942 2>&1 | FileCheck %s --check-prefix=ATOM
// RUN: not %tile_opt %t/mfma.mlir --convert-tile-to-rocdl=chip=sm_80 2>&1 | FileCheck %s --check-prefix=CHIP
// TYPES: error: {{.*}}multiplies i8 by i8 into i32, expected what atom "mfma.16x16x16" takes on gfx942: f16,f16,f32 bf16,bf16,f32
// ATOM: error: {{.*}}machine gfx942 has no atom 'wmma.16x16x16'
// CHIP: error: {{.*}}chip sm_80 has instruction set ptx; this conversion accepts chips of amdgcn
// GFX942: rocdl.mfma.f32.32x32x8f16 {{.*}} : (vector<4xf16>, vector<4xf16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
// GFX942: rocdl.mfma.f32.16x16x16bf16.1k {{.*}} : (vector<4xi16>, vector<4xi16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
// GFX942: rocdl.mfma.i32.32x32x16.i8 {{.*}} : (i64, i64, vector<16xi32>, i32, i32, i32) -> vector<16xi32>
// GFX942: rocdl.mfma.i32.16x16x32.i8 {{.*}} : (i64, i64, vector<4xi32>, i32, i32, i32) -> vector<4xi32>
// GFX942: rocdl.mfma.f32.32x32x2f32 {{.*}} : (f32, f32, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
// GFX942: rocdl.mfma.f32.16x16x4f32 {{.*}} : (f32, f32, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
// GFX942: rocdl.mfma.f64.16x16x4f64 {{.*}} : (f64, f64, vector<4xf64>, i32, i32, i32) -> vector<4xf64>
// SAME: rocdl.mfma.f32.32x32x8f16 
// SAME: rocdl.mfma.f32.16x16x16bf16.1k 
// SAME: rocdl.mfma.i32.32x32x16.i8 
// SAME: rocdl.mfma.i32.16x16x32.i8 
// SAME: rocdl.mfma.f32.32x32x2f32 
// SAME: rocdl.mfma.f32.16x16x4f32 
// SAME: rocdl.mfma.f64.16x16x4f64 
// GFX90A: rocdl.mfma.i32.16x16x16i8 {{.*}} : (i32, i32, vector<4xi32>, i32, i32, i32) -> vector<4xi32>
// GFX90A: rocdl.mfma.i32.32x32x8i8 {{.*}} : (i32, i32, vector<16xi32>, i32, i32, i32) -> vector<16xi32>
// GFX950: rocdl.mfma.f32.32x32x16.f16 {{.*}} : (vector<8xf16>, vector<8xf16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
// GFX950: rocdl.mfma.f32.16x16x32.bf16 {{.*}} : (vector<8xbf16>, vector<8xbf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
// GFX950: rocdl.mfma.i32.32x32x32.i8 {{.*}} : (vector<4xi32>, vector<4xi32>, vector<16xi32>, i32, i32, i32) -> vector<16xi32>
// GFX950: rocdl.mfma.i32.16x16x64.i8 {{.*}} : (vector<4xi32>, vector<4xi32>, vector<4xi32>, i32, i32, i32) -> vector<4xi32>
// GFX950: rocdl.mfma.f32.16x16x32.fp8.bf8 {{.*}} : (i64, i64, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
// GFX1100: rocdl.wmma.f32.16x16x16.f16 {{.*}} : (vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
// GFX1100: rocdl.wmma.f32.16x16x16.bf16 {{.*}} : (vector<16xi16>, vector<16xi16>, vector<8xf32>) -> vector<8xf32>
// GFX1100: rocdl.wmma.i32.16x16x16.iu8 {{.*}} {signA = true, signB = true} : (vector<4xi32>, vector<4xi32>, vector<8xi32>) -> vector<8xi32>
// GFX1100: rocdl.wmma.i32.16x16x16.iu4 {{.*}} {signA = true, signB = true} : (vector<2xi32>, vector<2xi32>, vector<8xi32>) -> vector<8xi32>
// GFX1201: rocdl.wmma.f32.16x16x16.f16 {{.*}} : (vector<8xf16>, vector<8xf16>, vector<8xf32>) -> vector<8xf32>
// GFX1201: rocdl.wmma.f32.16x16x16.bf16 {{.*}} : (vector<8xi16>, vector<8xi16>, vector<8xf32>) -> vector<8xf32>
// GFX1201: rocdl.wmma.i32.16x16x16.iu8 {{.*}} {signA = true, signB = true} : (vector<2xi32>, vector<2xi32>, vector<8xi32>) -> vector<8xi32>
// GFX1201: rocdl.wmma.i32.16x16x16.iu4 {{.*}} {signA = true, signB = true} : (i32, i32, vector<8xi32>) -> vector<8xi32>
// GFX1201: rocdl.wmma.f32.16x16x16.bf8_fp8 {{.*}} : (vector<2xi32>, vector<2xi32>, vector<8xf32>) -> vector<8xf32>
// GFX1201: rocdl.wmma.i32.16x16x32.iu4 {{.*}} {signA = true, signB = true} : (vector<2xi32>, vector<2xi32>, vector<8xi32>) -> vector<8xi32>

//--- mfma.mlir
tile.kernel @k0(%a: memref<32x8xf16>, %b: memref<8x32xf16>, %c: memref<32x32xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<32x8xf16> to !tile.view<32x8xf16>
  %B = tile.view %b : memref<8x32xf16> to !tile.view<8x32xf16>
  %C = tile.view %c : memref<32x32xf32> to !tile.view<32x32xf32>
  %x = tile.load %A[%0, %0] : !tile.view<32x8xf16> -> tensor<32x8xf16, #tile.layout<reg [4:d1], lane [32:d0, 2:d1*4]>>
  %y = tile.load %B[%0, %0] : !tile.view<8x32xf16> -> tensor<8x32xf16, #tile.layout<reg [4:d0], lane [32:d1, 2:d0*4]>>
  %z = arith.constant dense<0.0> : tensor<32x32xf32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>
  %r = tile.mma %x, %y, %z atom "mfma.32x32x8" : tensor<32x8xf16, #tile.layout<reg [4:d1], lane [32:d0, 2:d1*4]>>, tensor<8x32xf16, #tile.layout<reg [4:d0], lane [32:d1, 2:d0*4]>> -> tensor<32x32xf32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>
  tile.store %r, %C[%0, %0] : tensor<32x32xf32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>, !tile.view<32x32xf32>
  tile.return
}
tile.kernel @k1(%a: memref<16x16xbf16>, %b: memref<16x16xbf16>, %c: memref<16x16xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x16xbf16> to !tile.view<16x16xbf16>
  %B = tile.view %b : memref<16x16xbf16> to !tile.view<16x16xbf16>
  %C = tile.view %c : memref<16x16xf32> to !tile.view<16x16xf32>
  %x = tile.load %A[%0, %0] : !tile.view<16x16xbf16> -> tensor<16x16xbf16, #tile.layout<reg [4:d1], lane [16:d0, 4:d1*4]>>
  %y = tile.load %B[%0, %0] : !tile.view<16x16xbf16> -> tensor<16x16xbf16, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  %r = tile.mma %x, %y, %z atom "mfma.16x16x16" : tensor<16x16xbf16, #tile.layout<reg [4:d1], lane [16:d0, 4:d1*4]>>, tensor<16x16xbf16, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>> -> tensor<16x16xf32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xf32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>, !tile.view<16x16xf32>
  tile.return
}
tile.kernel @k2(%a: memref<32x16xi8>, %b: memref<16x32xi8>, %c: memref<32x32xi32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<32x16xi8> to !tile.view<32x16xi8>
  %B = tile.view %b : memref<16x32xi8> to !tile.view<16x32xi8>
  %C = tile.view %c : memref<32x32xi32> to !tile.view<32x32xi32>
  %x = tile.load %A[%0, %0] : !tile.view<32x16xi8> -> tensor<32x16xi8, #tile.layout<reg [8:d1], lane [32:d0, 2:d1*8]>>
  %y = tile.load %B[%0, %0] : !tile.view<16x32xi8> -> tensor<16x32xi8, #tile.layout<reg [8:d0], lane [32:d1, 2:d0*8]>>
  %z = arith.constant dense<0> : tensor<32x32xi32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>
  %r = tile.mma %x, %y, %z atom "mfma.32x32x16" : tensor<32x16xi8, #tile.layout<reg [8:d1], lane [32:d0, 2:d1*8]>>, tensor<16x32xi8, #tile.layout<reg [8:d0], lane [32:d1, 2:d0*8]>> -> tensor<32x32xi32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>
  tile.store %r, %C[%0, %0] : tensor<32x32xi32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>, !tile.view<32x32xi32>
  tile.return
}
tile.kernel @k3(%a: memref<16x32xi8>, %b: memref<32x16xi8>, %c: memref<16x16xi32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x32xi8> to !tile.view<16x32xi8>
  %B = tile.view %b : memref<32x16xi8> to !tile.view<32x16xi8>
  %C = tile.view %c : memref<16x16xi32> to !tile.view<16x16xi32>
  %x = tile.load %A[%0, %0] : !tile.view<16x32xi8> -> tensor<16x32xi8, #tile.layout<reg [8:d1], lane [16:d0, 4:d1*8]>>
  %y = tile.load %B[%0, %0] : !tile.view<32x16xi8> -> tensor<32x16xi8, #tile.layout<reg [8:d0], lane [16:d1, 4:d0*8]>>
  %z = arith.constant dense<0> : tensor<16x16xi32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  %r = tile.mma %x, %y, %z atom "mfma.16x16x32" : tensor<16x32xi8, #tile.layout<reg [8:d1], lane [16:d0, 4:d1*8]>>, tensor<32x16xi8, #tile.layout<reg [8:d0], lane [16:d1, 4:d0*8]>> -> tensor<16x16xi32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xi32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>, !tile.view<16x16xi32>
  tile.return
}
tile.kernel @k4(%a: memref<32x2xf32>, %b: memref<2x32xf32>, %c: memref<32x32xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<32x2xf32> to !tile.view<32x2xf32>
  %B = tile.view %b : memref<2x32xf32> to !tile.view<2x32xf32>
  %C = tile.view %c : memref<32x32xf32> to !tile.view<32x32xf32>
  %x = tile.load %A[%0, %0] : !tile.view<32x2xf32> -> tensor<32x2xf32, #tile.layout<lane [32:d0, 2:d1]>>
  %y = tile.load %B[%0, %0] : !tile.view<2x32xf32> -> tensor<2x32xf32, #tile.layout<lane [32:d1, 2:d0]>>
  %z = arith.constant dense<0.0> : tensor<32x32xf32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>
  %r = tile.mma %x, %y, %z atom "mfma.32x32x2" : tensor<32x2xf32, #tile.layout<lane [32:d0, 2:d1]>>, tensor<2x32xf32, #tile.layout<lane [32:d1, 2:d0]>> -> tensor<32x32xf32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>
  tile.store %r, %C[%0, %0] : tensor<32x32xf32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>, !tile.view<32x32xf32>
  tile.return
}
tile.kernel @k5(%a: memref<16x4xf32>, %b: memref<4x16xf32>, %c: memref<16x16xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x4xf32> to !tile.view<16x4xf32>
  %B = tile.view %b : memref<4x16xf32> to !tile.view<4x16xf32>
  %C = tile.view %c : memref<16x16xf32> to !tile.view<16x16xf32>
  %x = tile.load %A[%0, %0] : !tile.view<16x4xf32> -> tensor<16x4xf32, #tile.layout<lane [16:d0, 4:d1]>>
  %y = tile.load %B[%0, %0] : !tile.view<4x16xf32> -> tensor<4x16xf32, #tile.layout<lane [16:d1, 4:d0]>>
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  %r = tile.mma %x, %y, %z atom "mfma.16x16x4" : tensor<16x4xf32, #tile.layout<lane [16:d0, 4:d1]>>, tensor<4x16xf32, #tile.layout<lane [16:d1, 4:d0]>> -> tensor<16x16xf32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xf32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>, !tile.view<16x16xf32>
  tile.return
}
tile.kernel @k6(%a: memref<16x4xf64>, %b: memref<4x16xf64>, %c: memref<16x16xf64>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x4xf64> to !tile.view<16x4xf64>
  %B = tile.view %b : memref<4x16xf64> to !tile.view<4x16xf64>
  %C = tile.view %c : memref<16x16xf64> to !tile.view<16x16xf64>
  %x = tile.load %A[%0, %0] : !tile.view<16x4xf64> -> tensor<16x4xf64, #tile.layout<lane [16:d0, 4:d1]>>
  %y = tile.load %B[%0, %0] : !tile.view<4x16xf64> -> tensor<4x16xf64, #tile.layout<lane [16:d1, 4:d0]>>
  %z = arith.constant dense<0.0> : tensor<16x16xf64, #tile.layout<reg [4:d0*4], lane [16:d1, 4:d0]>>
  %r = tile.mma %x, %y, %z atom "mfma.f64.16x16x4" : tensor<16x4xf64, #tile.layout<lane [16:d0, 4:d1]>>, tensor<4x16xf64, #tile.layout<lane [16:d1, 4:d0]>> -> tensor<16x16xf64, #tile.layout<reg [4:d0*4], lane [16:d1, 4:d0]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xf64, #tile.layout<reg [4:d0*4], lane [16:d1, 4:d0]>>, !tile.view<16x16xf64>
  tile.return
}

//--- old.mlir
tile.kernel @k0(%a: memref<16x16xi8>, %b: memref<16x16xi8>, %c: memref<16x16xi32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x16xi8> to !tile.view<16x16xi8>
  %B = tile.view %b : memref<16x16xi8> to !tile.view<16x16xi8>
  %C = tile.view %c : memref<16x16xi32> to !tile.view<16x16xi32>
  %x = tile.load %A[%0, %0] : !tile.view<16x16xi8> -> tensor<16x16xi8, #tile.layout<reg [4:d1], lane [16:d0, 4:d1*4]>>
  %y = tile.load %B[%0, %0] : !tile.view<16x16xi8> -> tensor<16x16xi8, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  %z = arith.constant dense<0> : tensor<16x16xi32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  %r = tile.mma %x, %y, %z atom "mfma.16x16x16" : tensor<16x16xi8, #tile.layout<reg [4:d1], lane [16:d0, 4:d1*4]>>, tensor<16x16xi8, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>> -> tensor<16x16xi32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xi32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>, !tile.view<16x16xi32>
  tile.return
}
tile.kernel @k1(%a: memref<32x8xi8>, %b: memref<8x32xi8>, %c: memref<32x32xi32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<32x8xi8> to !tile.view<32x8xi8>
  %B = tile.view %b : memref<8x32xi8> to !tile.view<8x32xi8>
  %C = tile.view %c : memref<32x32xi32> to !tile.view<32x32xi32>
  %x = tile.load %A[%0, %0] : !tile.view<32x8xi8> -> tensor<32x8xi8, #tile.layout<reg [4:d1], lane [32:d0, 2:d1*4]>>
  %y = tile.load %B[%0, %0] : !tile.view<8x32xi8> -> tensor<8x32xi8, #tile.layout<reg [4:d0], lane [32:d1, 2:d0*4]>>
  %z = arith.constant dense<0> : tensor<32x32xi32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>
  %r = tile.mma %x, %y, %z atom "mfma.32x32x8" : tensor<32x8xi8, #tile.layout<reg [4:d1], lane [32:d0, 2:d1*4]>>, tensor<8x32xi8, #tile.layout<reg [4:d0], lane [32:d1, 2:d0*4]>> -> tensor<32x32xi32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>
  tile.store %r, %C[%0, %0] : tensor<32x32xi32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>, !tile.view<32x32xi32>
  tile.return
}

//--- wide.mlir
tile.kernel @k0(%a: memref<32x16xf16>, %b: memref<16x32xf16>, %c: memref<32x32xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<32x16xf16> to !tile.view<32x16xf16>
  %B = tile.view %b : memref<16x32xf16> to !tile.view<16x32xf16>
  %C = tile.view %c : memref<32x32xf32> to !tile.view<32x32xf32>
  %x = tile.load %A[%0, %0] : !tile.view<32x16xf16> -> tensor<32x16xf16, #tile.layout<reg [8:d1], lane [32:d0, 2:d1*8]>>
  %y = tile.load %B[%0, %0] : !tile.view<16x32xf16> -> tensor<16x32xf16, #tile.layout<reg [8:d0], lane [32:d1, 2:d0*8]>>
  %z = arith.constant dense<0.0> : tensor<32x32xf32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>
  %r = tile.mma %x, %y, %z atom "mfma.32x32x16" : tensor<32x16xf16, #tile.layout<reg [8:d1], lane [32:d0, 2:d1*8]>>, tensor<16x32xf16, #tile.layout<reg [8:d0], lane [32:d1, 2:d0*8]>> -> tensor<32x32xf32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>
  tile.store %r, %C[%0, %0] : tensor<32x32xf32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>, !tile.view<32x32xf32>
  tile.return
}
tile.kernel @k1(%a: memref<16x32xbf16>, %b: memref<32x16xbf16>, %c: memref<16x16xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x32xbf16> to !tile.view<16x32xbf16>
  %B = tile.view %b : memref<32x16xbf16> to !tile.view<32x16xbf16>
  %C = tile.view %c : memref<16x16xf32> to !tile.view<16x16xf32>
  %x = tile.load %A[%0, %0] : !tile.view<16x32xbf16> -> tensor<16x32xbf16, #tile.layout<reg [8:d1], lane [16:d0, 4:d1*8]>>
  %y = tile.load %B[%0, %0] : !tile.view<32x16xbf16> -> tensor<32x16xbf16, #tile.layout<reg [8:d0], lane [16:d1, 4:d0*8]>>
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  %r = tile.mma %x, %y, %z atom "mfma.16x16x32" : tensor<16x32xbf16, #tile.layout<reg [8:d1], lane [16:d0, 4:d1*8]>>, tensor<32x16xbf16, #tile.layout<reg [8:d0], lane [16:d1, 4:d0*8]>> -> tensor<16x16xf32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xf32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>, !tile.view<16x16xf32>
  tile.return
}
tile.kernel @k2(%a: memref<32x32xi8>, %b: memref<32x32xi8>, %c: memref<32x32xi32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<32x32xi8> to !tile.view<32x32xi8>
  %B = tile.view %b : memref<32x32xi8> to !tile.view<32x32xi8>
  %C = tile.view %c : memref<32x32xi32> to !tile.view<32x32xi32>
  %x = tile.load %A[%0, %0] : !tile.view<32x32xi8> -> tensor<32x32xi8, #tile.layout<reg [16:d1], lane [32:d0, 2:d1*16]>>
  %y = tile.load %B[%0, %0] : !tile.view<32x32xi8> -> tensor<32x32xi8, #tile.layout<reg [16:d0], lane [32:d1, 2:d0*16]>>
  %z = arith.constant dense<0> : tensor<32x32xi32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>
  %r = tile.mma %x, %y, %z atom "mfma.32x32x32" : tensor<32x32xi8, #tile.layout<reg [16:d1], lane [32:d0, 2:d1*16]>>, tensor<32x32xi8, #tile.layout<reg [16:d0], lane [32:d1, 2:d0*16]>> -> tensor<32x32xi32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>
  tile.store %r, %C[%0, %0] : tensor<32x32xi32, #tile.layout<reg [4:d0, 4:d0*8], lane [32:d1, 2:d0*4]>>, !tile.view<32x32xi32>
  tile.return
}
tile.kernel @k3(%a: memref<16x64xi8>, %b: memref<64x16xi8>, %c: memref<16x16xi32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x64xi8> to !tile.view<16x64xi8>
  %B = tile.view %b : memref<64x16xi8> to !tile.view<64x16xi8>
  %C = tile.view %c : memref<16x16xi32> to !tile.view<16x16xi32>
  %x = tile.load %A[%0, %0] : !tile.view<16x64xi8> -> tensor<16x64xi8, #tile.layout<reg [16:d1], lane [16:d0, 4:d1*16]>>
  %y = tile.load %B[%0, %0] : !tile.view<64x16xi8> -> tensor<64x16xi8, #tile.layout<reg [16:d0], lane [16:d1, 4:d0*16]>>
  %z = arith.constant dense<0> : tensor<16x16xi32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  %r = tile.mma %x, %y, %z atom "mfma.16x16x64" : tensor<16x64xi8, #tile.layout<reg [16:d1], lane [16:d0, 4:d1*16]>>, tensor<64x16xi8, #tile.layout<reg [16:d0], lane [16:d1, 4:d0*16]>> -> tensor<16x16xi32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xi32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>, !tile.view<16x16xi32>
  tile.return
}
tile.kernel @k4(%a: memref<16x32xf8E4M3FN>, %b: memref<32x16xf8E5M2>, %c: memref<16x16xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x32xf8E4M3FN> to !tile.view<16x32xf8E4M3FN>
  %B = tile.view %b : memref<32x16xf8E5M2> to !tile.view<32x16xf8E5M2>
  %C = tile.view %c : memref<16x16xf32> to !tile.view<16x16xf32>
  %x = tile.load %A[%0, %0] : !tile.view<16x32xf8E4M3FN> -> tensor<16x32xf8E4M3FN, #tile.layout<reg [8:d1], lane [16:d0, 4:d1*8]>>
  %y = tile.load %B[%0, %0] : !tile.view<32x16xf8E5M2> -> tensor<32x16xf8E5M2, #tile.layout<reg [8:d0], lane [16:d1, 4:d0*8]>>
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  %r = tile.mma %x, %y, %z atom "mfma.16x16x32" : tensor<16x32xf8E4M3FN, #tile.layout<reg [8:d1], lane [16:d0, 4:d1*8]>>, tensor<32x16xf8E5M2, #tile.layout<reg [8:d0], lane [16:d1, 4:d0*8]>> -> tensor<16x16xf32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xf32, #tile.layout<reg [4:d0], lane [16:d1, 4:d0*4]>>, !tile.view<16x16xf32>
  tile.return
}

//--- gfx11.mlir
tile.kernel @k0(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x16xf16> to !tile.view<16x16xf16>
  %B = tile.view %b : memref<16x16xf16> to !tile.view<16x16xf16>
  %C = tile.view %c : memref<16x16xf32> to !tile.view<16x16xf32>
  %x = tile.load %A[%0, %0] : !tile.view<16x16xf16> -> tensor<16x16xf16, #tile.layout<reg [16:d1], lane [16:d0, 2:_]>>
  %y = tile.load %B[%0, %0] : !tile.view<16x16xf16> -> tensor<16x16xf16, #tile.layout<reg [16:d0], lane [16:d1, 2:_]>>
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #tile.layout<reg [8:d0*2], lane [16:d1, 2:d0]>>
  %r = tile.mma %x, %y, %z atom "wmma.16x16x16" : tensor<16x16xf16, #tile.layout<reg [16:d1], lane [16:d0, 2:_]>>, tensor<16x16xf16, #tile.layout<reg [16:d0], lane [16:d1, 2:_]>> -> tensor<16x16xf32, #tile.layout<reg [8:d0*2], lane [16:d1, 2:d0]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xf32, #tile.layout<reg [8:d0*2], lane [16:d1, 2:d0]>>, !tile.view<16x16xf32>
  tile.return
}
tile.kernel @k1(%a: memref<16x16xbf16>, %b: memref<16x16xbf16>, %c: memref<16x16xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x16xbf16> to !tile.view<16x16xbf16>
  %B = tile.view %b : memref<16x16xbf16> to !tile.view<16x16xbf16>
  %C = tile.view %c : memref<16x16xf32> to !tile.view<16x16xf32>
  %x = tile.load %A[%0, %0] : !tile.view<16x16xbf16> -> tensor<16x16xbf16, #tile.layout<reg [16:d1], lane [16:d0, 2:_]>>
  %y = tile.load %B[%0, %0] : !tile.view<16x16xbf16> -> tensor<16x16xbf16, #tile.layout<reg [16:d0], lane [16:d1, 2:_]>>
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #tile.layout<reg [8:d0*2], lane [16:d1, 2:d0]>>
  %r = tile.mma %x, %y, %z atom "wmma.16x16x16" : tensor<16x16xbf16, #tile.layout<reg [16:d1], lane [16:d0, 2:_]>>, tensor<16x16xbf16, #tile.layout<reg [16:d0], lane [16:d1, 2:_]>> -> tensor<16x16xf32, #tile.layout<reg [8:d0*2], lane [16:d1, 2:d0]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xf32, #tile.layout<reg [8:d0*2], lane [16:d1, 2:d0]>>, !tile.view<16x16xf32>
  tile.return
}
tile.kernel @k2(%a: memref<16x16xi8>, %b: memref<16x16xi8>, %c: memref<16x16xi32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x16xi8> to !tile.view<16x16xi8>
  %B = tile.view %b : memref<16x16xi8> to !tile.view<16x16xi8>
  %C = tile.view %c : memref<16x16xi32> to !tile.view<16x16xi32>
  %x = tile.load %A[%0, %0] : !tile.view<16x16xi8> -> tensor<16x16xi8, #tile.layout<reg [16:d1], lane [16:d0, 2:_]>>
  %y = tile.load %B[%0, %0] : !tile.view<16x16xi8> -> tensor<16x16xi8, #tile.layout<reg [16:d0], lane [16:d1, 2:_]>>
  %z = arith.constant dense<0> : tensor<16x16xi32, #tile.layout<reg [8:d0*2], lane [16:d1, 2:d0]>>
  %r = tile.mma %x, %y, %z atom "wmma.16x16x16" : tensor<16x16xi8, #tile.layout<reg [16:d1], lane [16:d0, 2:_]>>, tensor<16x16xi8, #tile.layout<reg [16:d0], lane [16:d1, 2:_]>> -> tensor<16x16xi32, #tile.layout<reg [8:d0*2], lane [16:d1, 2:d0]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xi32, #tile.layout<reg [8:d0*2], lane [16:d1, 2:d0]>>, !tile.view<16x16xi32>
  tile.return
}
tile.kernel @k3(%a: memref<16x16xi4>, %b: memref<16x16xi4>, %c: memref<16x16xi32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x16xi4> to !tile.view<16x16xi4>
  %B = tile.view %b : memref<16x16xi4> to !tile.view<16x16xi4>
  %C = tile.view %c : memref<16x16xi32> to !tile.view<16x16xi32>
  %x = tile.load %A[%0, %0] : !tile.view<16x16xi4> -> tensor<16x16xi4, #tile.layout<reg [16:d1], lane [16:d0, 2:_]>>
  %y = tile.load %B[%0, %0] : !tile.view<16x16xi4> -> tensor<16x16xi4, #tile.layout<reg [16:d0], lane [16:d1, 2:_]>>
  %z = arith.constant dense<0> : tensor<16x16xi32, #tile.layout<reg [8:d0*2], lane [16:d1, 2:d0]>>
  %r = tile.mma %x, %y, %z atom "wmma.16x16x16" : tensor<16x16xi4, #tile.layout<reg [16:d1], lane [16:d0, 2:_]>>, tensor<16x16xi4, #tile.layout<reg [16:d0], lane [16:d1, 2:_]>> -> tensor<16x16xi32, #tile.layout<reg [8:d0*2], lane [16:d1, 2:d0]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xi32, #tile.layout<reg [8:d0*2], lane [16:d1, 2:d0]>>, !tile.view<16x16xi32>
  tile.return
}

//--- gfx12.mlir
tile.kernel @k0(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x16xf16> to !tile.view<16x16xf16>
  %B = tile.view %b : memref<16x16xf16> to !tile.view<16x16xf16>
  %C = tile.view %c : memref<16x16xf32> to !tile.view<16x16xf32>
  %x = tile.load %A[%0, %0] : !tile.view<16x16xf16> -> tensor<16x16xf16, #tile.layout<reg [4:d1, 2:d1*8], lane [16:d0, 2:d1*4]>>
  %y = tile.load %B[%0, %0] : !tile.view<16x16xf16> -> tensor<16x16xf16, #tile.layout<reg [4:d0, 2:d0*8], lane [16:d1, 2:d0*4]>>
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  %r = tile.mma %x, %y, %z atom "wmma.16x16x16" : tensor<16x16xf16, #tile.layout<reg [4:d1, 2:d1*8], lane [16:d0, 2:d1*4]>>, tensor<16x16xf16, #tile.layout<reg [4:d0, 2:d0*8], lane [16:d1, 2:d0*4]>> -> tensor<16x16xf32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xf32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>, !tile.view<16x16xf32>
  tile.return
}
tile.kernel @k1(%a: memref<16x16xbf16>, %b: memref<16x16xbf16>, %c: memref<16x16xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x16xbf16> to !tile.view<16x16xbf16>
  %B = tile.view %b : memref<16x16xbf16> to !tile.view<16x16xbf16>
  %C = tile.view %c : memref<16x16xf32> to !tile.view<16x16xf32>
  %x = tile.load %A[%0, %0] : !tile.view<16x16xbf16> -> tensor<16x16xbf16, #tile.layout<reg [4:d1, 2:d1*8], lane [16:d0, 2:d1*4]>>
  %y = tile.load %B[%0, %0] : !tile.view<16x16xbf16> -> tensor<16x16xbf16, #tile.layout<reg [4:d0, 2:d0*8], lane [16:d1, 2:d0*4]>>
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  %r = tile.mma %x, %y, %z atom "wmma.16x16x16" : tensor<16x16xbf16, #tile.layout<reg [4:d1, 2:d1*8], lane [16:d0, 2:d1*4]>>, tensor<16x16xbf16, #tile.layout<reg [4:d0, 2:d0*8], lane [16:d1, 2:d0*4]>> -> tensor<16x16xf32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xf32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>, !tile.view<16x16xf32>
  tile.return
}
tile.kernel @k2(%a: memref<16x16xi8>, %b: memref<16x16xi8>, %c: memref<16x16xi32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x16xi8> to !tile.view<16x16xi8>
  %B = tile.view %b : memref<16x16xi8> to !tile.view<16x16xi8>
  %C = tile.view %c : memref<16x16xi32> to !tile.view<16x16xi32>
  %x = tile.load %A[%0, %0] : !tile.view<16x16xi8> -> tensor<16x16xi8, #tile.layout<reg [8:d1], lane [16:d0, 2:d1*8]>>
  %y = tile.load %B[%0, %0] : !tile.view<16x16xi8> -> tensor<16x16xi8, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  %z = arith.constant dense<0> : tensor<16x16xi32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  %r = tile.mma %x, %y, %z atom "wmma.narrow.16x16x16" : tensor<16x16xi8, #tile.layout<reg [8:d1], lane [16:d0, 2:d1*8]>>, tensor<16x16xi8, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>> -> tensor<16x16xi32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xi32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>, !tile.view<16x16xi32>
  tile.return
}
tile.kernel @k3(%a: memref<16x16xi4>, %b: memref<16x16xi4>, %c: memref<16x16xi32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x16xi4> to !tile.view<16x16xi4>
  %B = tile.view %b : memref<16x16xi4> to !tile.view<16x16xi4>
  %C = tile.view %c : memref<16x16xi32> to !tile.view<16x16xi32>
  %x = tile.load %A[%0, %0] : !tile.view<16x16xi4> -> tensor<16x16xi4, #tile.layout<reg [8:d1], lane [16:d0, 2:d1*8]>>
  %y = tile.load %B[%0, %0] : !tile.view<16x16xi4> -> tensor<16x16xi4, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  %z = arith.constant dense<0> : tensor<16x16xi32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  %r = tile.mma %x, %y, %z atom "wmma.narrow.16x16x16" : tensor<16x16xi4, #tile.layout<reg [8:d1], lane [16:d0, 2:d1*8]>>, tensor<16x16xi4, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>> -> tensor<16x16xi32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xi32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>, !tile.view<16x16xi32>
  tile.return
}
tile.kernel @k4(%a: memref<16x16xf8E5M2>, %b: memref<16x16xf8E4M3FN>, %c: memref<16x16xf32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x16xf8E5M2> to !tile.view<16x16xf8E5M2>
  %B = tile.view %b : memref<16x16xf8E4M3FN> to !tile.view<16x16xf8E4M3FN>
  %C = tile.view %c : memref<16x16xf32> to !tile.view<16x16xf32>
  %x = tile.load %A[%0, %0] : !tile.view<16x16xf8E5M2> -> tensor<16x16xf8E5M2, #tile.layout<reg [8:d1], lane [16:d0, 2:d1*8]>>
  %y = tile.load %B[%0, %0] : !tile.view<16x16xf8E4M3FN> -> tensor<16x16xf8E4M3FN, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  %z = arith.constant dense<0.0> : tensor<16x16xf32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  %r = tile.mma %x, %y, %z atom "wmma.narrow.16x16x16" : tensor<16x16xf8E5M2, #tile.layout<reg [8:d1], lane [16:d0, 2:d1*8]>>, tensor<16x16xf8E4M3FN, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>> -> tensor<16x16xf32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xf32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>, !tile.view<16x16xf32>
  tile.return
}
tile.kernel @k5(%a: memref<16x32xi4>, %b: memref<32x16xi4>, %c: memref<16x16xi32>) attributes {warps = 1 : i32} {
  %0 = arith.constant 0 : index
  %A = tile.view %a : memref<16x32xi4> to !tile.view<16x32xi4>
  %B = tile.view %b : memref<32x16xi4> to !tile.view<32x16xi4>
  %C = tile.view %c : memref<16x16xi32> to !tile.view<16x16xi32>
  %x = tile.load %A[%0, %0] : !tile.view<16x32xi4> -> tensor<16x32xi4, #tile.layout<reg [16:d1], lane [16:d0, 2:d1*16]>>
  %y = tile.load %B[%0, %0] : !tile.view<32x16xi4> -> tensor<32x16xi4, #tile.layout<reg [16:d0], lane [16:d1, 2:d0*16]>>
  %z = arith.constant dense<0> : tensor<16x16xi32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  %r = tile.mma %x, %y, %z atom "wmma.16x16x32" : tensor<16x32xi4, #tile.layout<reg [16:d1], lane [16:d0, 2:d1*16]>>, tensor<32x16xi4, #tile.layout<reg [16:d0], lane [16:d1, 2:d0*16]>> -> tensor<16x16xi32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>
  tile.store %r, %C[%0, %0] : tensor<16x16xi32, #tile.layout<reg [8:d0], lane [16:d1, 2:d0*8]>>, !tile.view<16x16xi32>
  tile.return
}
