// Attention written in linalg, for sm_90a, through TMA and wgmma: the emulator gives what the interpreter does at lengths
// that no block divides. Queries see 60 keys more than there are queries before them. A core of its own gets a large block.
// RUN: %tile_run %s --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=SPECIAL < %t.json
// RUN: %tile_translate %s --tile-to-ptx --chip=sm_90a -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// CHECK: result 0: right
// SPECIAL: "tile-specialize-warps": {
// SPECIAL-NEXT: "specialized": 1,
// PTX-DAG: cp.async.bulk.tensor.3d.shared::cluster.global
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k16.f32.f16.f16
// PTX-DAG: ex2.approx
module attributes {tile.machine = #tile.machine<"sm_90a", "cores" = 1>} {
func.func @main(%q: tensor<1x190x64xf16>, %k: tensor<1x250x64xf16>, %v: tensor<1x250x64xf16>) -> tensor<1x190x64xf16> {
  %s_z = arith.constant 0.0 : f32
  %s_e = tensor.empty() : tensor<1x190x250xf32>
  %s = linalg.fill ins(%s_z : f32) outs(%s_e : tensor<1x190x250xf32>) -> tensor<1x190x250xf32>
  %qk = linalg.generic {indexing_maps = [affine_map<(h, i, j, k) -> (h, i, k)>, affine_map<(h, i, j, k) -> (h, j, k)>, affine_map<(h, i, j, k) -> (h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<1x190x64xf16>, tensor<1x250x64xf16>) outs(%s : tensor<1x190x250xf32>) {
  ^bb0(%x0: f16, %x1: f16, %o: f32):
    %w0 = arith.extf %x0 : f16 to f32
    %w1 = arith.extf %x1 : f16 to f32
    %p = arith.mulf %w0, %w1 : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x190x250xf32>
  %sc_e = tensor.empty() : tensor<1x190x250xf32>
  %sc = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<1x190x250xf32>) outs(%sc_e : tensor<1x190x250xf32>) {
  ^bb0(%x0: f32, %o: f32):
    %scale = arith.constant 1.250000000e-01 : f32
    %w = arith.mulf %x0, %scale : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %more = arith.constant 60 : index
    %last = arith.addi %i, %more : index
    %seen = arith.cmpi sle, %j, %last : index
    %low = arith.constant 0xFF800000 : f32
    %y = arith.select %seen, %w, %low : f32
    linalg.yield %y : f32
  } -> tensor<1x190x250xf32>
  %pe = tensor.empty() : tensor<1x190x250xf32>
  %p = linalg.softmax dimension(2) ins(%sc : tensor<1x190x250xf32>) outs(%pe : tensor<1x190x250xf32>) -> tensor<1x190x250xf32>
  %ph_e = tensor.empty() : tensor<1x190x250xf16>
  %ph = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<1x190x250xf32>) outs(%ph_e : tensor<1x190x250xf16>) {
  ^bb0(%x0: f32, %o: f16):
    %y = arith.truncf %x0 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<1x190x250xf16>
  %z_z = arith.constant 0.0 : f32
  %z_e = tensor.empty() : tensor<1x190x64xf32>
  %z = linalg.fill ins(%z_z : f32) outs(%z_e : tensor<1x190x64xf32>) -> tensor<1x190x64xf32>
  %pv = linalg.generic {indexing_maps = [affine_map<(h, i, e, j) -> (h, i, j)>, affine_map<(h, i, e, j) -> (h, j, e)>, affine_map<(h, i, e, j) -> (h, i, e)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%ph, %v : tensor<1x190x250xf16>, tensor<1x250x64xf16>) outs(%z : tensor<1x190x64xf32>) {
  ^bb0(%x0: f16, %x1: f16, %o: f32):
    %w0 = arith.extf %x0 : f16 to f32
    %w1 = arith.extf %x1 : f16 to f32
    %p0 = arith.mulf %w0, %w1 : f32
    %t = arith.addf %o, %p0 : f32
    linalg.yield %t : f32
  } -> tensor<1x190x64xf32>
  %r_e = tensor.empty() : tensor<1x190x64xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%pv : tensor<1x190x64xf32>) outs(%r_e : tensor<1x190x64xf16>) {
  ^bb0(%x0: f32, %o: f16):
    %y = arith.truncf %x0 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<1x190x64xf16>
  return %r : tensor<1x190x64xf16>
}
}
