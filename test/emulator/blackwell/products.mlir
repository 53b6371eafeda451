// Plain products for sm_100a, through TMA, tcgen05 and tensor memory: the emulator gives what the interpreter does at sizes
// that no tile divides, with an epilogue, with rows and depths known late, from a sum that begins with C, and where
// programs walk over tiles. Rows that TMA cannot take go another way.
// RUN: %tile_run %s --entry=main --target=emulate:sm_100a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=SPECIAL < %t.json
// RUN: %tile_run %s --entry=late --size=131 --target=emulate:sm_100a --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=deep --size=77 --target=emulate:sm_100a --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=deep --size=0 --target=emulate:sm_100a --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=odd --target=emulate:sm_100a --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=added --target=emulate:sm_100a --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=high --target=emulate:sm_100a --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=bytes --target=emulate:sm_100a --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=small --target=emulate:sm_100a --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=part --size=136 --target=emulate:sm_100a --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=none --target=emulate:sm_100a --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=walk --target=emulate:sm_100a --check-against=interpret --stats=%t.walk.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=WALK < %t.walk.json
// RUN: %tile_translate %s --tile-to-ptx --chip=sm_100a -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// CHECK: result 0: right
// SPECIAL: "tile-specialize-warps": {
// SPECIAL-NEXT: "specialized": 9,
// WALK: "tile-make-persistent": {
// WALK-NEXT: "persistent": 1
// PTX-NOT: wgmma
// PTX-DAG: tcgen05.mma.cta_group::1.kind::f16
// PTX-DAG: tcgen05.mma.cta_group::1.kind::f8f6f4
// PTX-DAG: tcgen05.mma.cta_group::1.kind::i8
#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
#s = #tile.schedule<block = [128, 64, 64], warps = [4, 1, 1]>
func.func @main(%a: tensor<133x136xf16>, %b: tensor<136x72xf16>, %bias: tensor<72xf16>) -> tensor<133x72xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<133x72xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<133x72xf32>) -> tensor<133x72xf32>
  %0 = linalg.matmul {tile.schedule = #s} ins(%a, %b : tensor<133x136xf16>, tensor<136x72xf16>) outs(%f : tensor<133x72xf32>) -> tensor<133x72xf32>
  %h = tensor.empty() : tensor<133x72xf16>
  %1 = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%0, %bias : tensor<133x72xf32>, tensor<72xf16>) outs(%h : tensor<133x72xf16>) {
  ^bb0(%x: f32, %y: f16, %o: f16):
    %w = arith.extf %y : f16 to f32
    %s = arith.addf %x, %w : f32
    %m = arith.maximumf %s, %zero : f32
    %t = arith.truncf %m : f32 to f16
    linalg.yield %t : f16
  } -> tensor<133x72xf16>
  return %1 : tensor<133x72xf16>
}
func.func @late(%a: tensor<?x136xbf16>, %b: tensor<136x72xbf16>, %c: tensor<?x72xbf16>) -> tensor<?x72xbf16> {
  %0 = linalg.matmul {tile.schedule = #s} ins(%a, %b : tensor<?x136xbf16>, tensor<136x72xbf16>) outs(%c : tensor<?x72xbf16>) -> tensor<?x72xbf16>
  return %0 : tensor<?x72xbf16>
}
// The left factor's neighbours lie along m. Without a round nobody has written the sums.
func.func @deep(%a: tensor<?x136xf16>, %b: tensor<?x72xf16>) -> tensor<136x72xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<136x72xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<136x72xf32>) -> tensor<136x72xf32>
  %0 = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
      {tile.schedule = #s} ins(%a, %b : tensor<?x136xf16>, tensor<?x72xf16>) outs(%f : tensor<136x72xf32>) -> tensor<136x72xf32>
  return %0 : tensor<136x72xf32>
}
func.func @odd(%a: tensor<133x135xf16>, %b: tensor<135x71xf16>, %c: tensor<133x71xf32>) -> tensor<133x71xf32> {
  %0 = linalg.matmul {tile.schedule = #s} ins(%a, %b : tensor<133x135xf16>, tensor<135x71xf16>) outs(%c : tensor<133x71xf32>) -> tensor<133x71xf32>
  return %0 : tensor<133x71xf32>
}
func.func @added(%a: tensor<130x136xf16>, %b: tensor<136x264xf16>, %c: tensor<130x264xf16>) -> tensor<130x264xf16> {
  %0 = linalg.matmul {tile.schedule = #tile.schedule<block = [128, 256, 64], warps = [2, 4, 1]>} ins(%a, %b : tensor<130x136xf16>, tensor<136x264xf16>) outs(%c : tensor<130x264xf16>) -> tensor<130x264xf16>
  return %0 : tensor<130x264xf16>
}
// Two instructions for 256 rows, whose sums lie side by side in columns. The right factor's neighbours lie along k.
func.func @high(%a: tensor<300x136xf16>, %b: tensor<72x136xf16>, %c: tensor<300x72xf32>) -> tensor<300x72xf32> {
  %0 = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      {tile.schedule = #tile.schedule<block = [256, 64, 64], warps = [8, 1, 1]>}
      ins(%a, %b : tensor<300x136xf16>, tensor<72x136xf16>) outs(%c : tensor<300x72xf32>) -> tensor<300x72xf32>
  return %0 : tensor<300x72xf32>
}
// Factors of bytes, whose neighbours lie along k.
func.func @bytes(%a: tensor<133x144xi8>, %b: tensor<72x144xi8>, %c: tensor<133x72xi32>) -> tensor<133x72xi32> {
  %0 = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      {tile.schedule = #s} ins(%a, %b : tensor<133x144xi8>, tensor<72x144xi8>) outs(%c : tensor<133x72xi32>) -> tensor<133x72xi32>
  return %0 : tensor<133x72xi32>
}
// A kernel on tiles: 8-bit floats of two formats.
tile.kernel @gemm(%a_: memref<?x?xf8E4M3FN>, %b_: memref<?x?xf8E5M2>, %c: memref<?x?xf32>) attributes {warps = 4 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %a = tile.assume %a_ align 16 strides [16, 1] : memref<?x?xf8E4M3FN>
  %b = tile.assume %b_ align 16 strides [16, 1] : memref<?x?xf8E5M2>
  %A = tile.view %a : memref<?x?xf8E4M3FN> to !tile.view<128x64xf8E4M3FN>
  %B = tile.view %b : memref<?x?xf8E5M2> to !tile.view<64x32xf8E5M2, order = [1, 0]>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<128x32xf32>
  %steps = tile.num_tiles %A dim 1 : !tile.view<128x64xf8E4M3FN>
  %r = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %zero) -> (tensor<128x32xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<128x64xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
    %y = tile.load %B[%k, %j] : !tile.view<64x32xf8E5M2, order = [1, 0]> -> tensor<64x32xf8E5M2>
    %m = tile.mma %x, %y, %s : tensor<128x64xf8E4M3FN>, tensor<64x32xf8E5M2> -> tensor<128x32xf32>
    scf.yield %m : tensor<128x32xf32>
  }
  tile.store %r, %C[%i, %j] : tensor<128x32xf32>, !tile.view<128x32xf32>
  tile.return
}
func.func @small(%a: tensor<133x144xf8E4M3FN>, %b: tensor<72x144xf8E5M2>) -> tensor<133x72xf32> {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %e = tensor.empty() : tensor<133x72xf32>
  %0 = tile.launch @gemm grid(%two, %three) ins(%a, %b : tensor<133x144xf8E4M3FN>, tensor<72x144xf8E5M2>) outs(%e : tensor<133x72xf32>) -> tensor<133x72xf32>
  return %0 : tensor<133x72xf32>
}
// The first rounds of a product, also none of them, though the factors have elements.
tile.kernel @rounds(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %n: index, %c: memref<?x?xf32>) attributes {warps = 4 : i32} {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x64xf16>
  %B = tile.view %b : memref<?x?xf16> to !tile.view<64x32xf16>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<128x32xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<128x32xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<128x64xf16> -> tensor<128x64xf16>
    %y = tile.load %B[%k, %c0] : !tile.view<64x32xf16> -> tensor<64x32xf16>
    %m = tile.mma %x, %y, %s : tensor<128x64xf16>, tensor<64x32xf16> -> tensor<128x32xf32>
    scf.yield %m : tensor<128x32xf32>
  }
  tile.store %r, %C[%i, %c0] : tensor<128x32xf32>, !tile.view<128x32xf32>
  tile.return
}
func.func @part(%a: tensor<133x?xf16>, %b: tensor<?x24xf16>) -> tensor<133x24xf32> {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %e = tensor.empty() : tensor<133x24xf32>
  %0 = tile.launch @rounds grid(%two) ins(%a, %b, %one : tensor<133x?xf16>, tensor<?x24xf16>, index) outs(%e : tensor<133x24xf32>) -> tensor<133x24xf32>
  return %0 : tensor<133x24xf32>
}
func.func @none(%a: tensor<133x136xf16>, %b: tensor<136x24xf16>) -> tensor<133x24xf32> {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %e = tensor.empty() : tensor<133x24xf32>
  %0 = tile.launch @rounds grid(%two) ins(%a, %b, %zero : tensor<133x136xf16>, tensor<136x24xf16>, index) outs(%e : tensor<133x24xf32>) -> tensor<133x24xf32>
  return %0 : tensor<133x24xf32>
}
// 17 x 19 tiles on 148 cores of two programs: some programs have two tiles.
func.func @walk(%a: tensor<2056x72xf16>, %b: tensor<72x1160xf16>) -> tensor<2056x1160xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2056x1160xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<2056x1160xf16>) -> tensor<2056x1160xf16>
  %0 = linalg.matmul {tile.schedule = #s} ins(%a, %b : tensor<2056x72xf16>, tensor<72x1160xf16>) outs(%f : tensor<2056x1160xf16>) -> tensor<2056x1160xf16>
  return %0 : tensor<2056x1160xf16>
}
