// Plain linalg.matmul for sm_90a, through TMA and wgmma: the emulator gives what the interpreter does at sizes that no
// tile divides, with an epilogue, and with rows known late. Rows that TMA cannot take go another way.
// RUN: %tile_run %s --entry=main --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=SPECIAL < %t.json
// RUN: %tile_run %s --entry=late --size=131 --target=emulate:sm_90a --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=odd --target=emulate:sm_90a --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=added --target=emulate:sm_90a --check-against=interpret | FileCheck %s
// RUN: %tile_translate %s --tile-to-ptx --chip=sm_90a -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// CHECK: result 0: right
// SPECIAL: "tile-specialize-warps": {
// SPECIAL-NEXT: "specialized": 3,
// PTX-DAG: cp.async.bulk.tensor.2d.global.shared::cta
// PTX-DAG: cp.async.bulk.tensor.2d.shared::cluster.global
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
#s = #tile.schedule<block = [64, 64, 64], warps = [4, 1, 1]>
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
func.func @odd(%a: tensor<133x135xf16>, %b: tensor<135x71xf16>, %c: tensor<133x71xf32>) -> tensor<133x71xf32> {
  %0 = linalg.matmul {tile.schedule = #s} ins(%a, %b : tensor<133x135xf16>, tensor<135x71xf16>) outs(%c : tensor<133x71xf32>) -> tensor<133x71xf32>
  return %0 : tensor<133x71xf32>
}
// The sums begin with C, whose tile changes threads in parts: the parts take turns in 16 KiB beside three stages.
func.func @added(%a: tensor<130x136xf16>, %b: tensor<136x264xf16>, %c: tensor<130x264xf16>) -> tensor<130x264xf16> {
  %0 = linalg.matmul {tile.schedule = #tile.schedule<block = [128, 256, 64], warps = [2, 4, 1]>} ins(%a, %b : tensor<130x136xf16>, tensor<136x264xf16>) outs(%c : tensor<130x264xf16>) -> tensor<130x264xf16>
  return %0 : tensor<130x264xf16>
}
