// What fastmath<afn> permits on GPUs: exp2 and division are one instruction each, and both judges widen their bounds. Without the flag they
// are as precise as everywhere. Powers of two may lack subnormal results. maximumf and its kin are one instruction with or without.
// RUN: %python %source/test/run/check.py %tile_run %s --target=emulate:sm_80 --check-against=interpret
// RUN: %python %source/test/run/check.py %tile_run %s --target=emulate:gfx942 --check-against=interpret
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// RUN: %build/bin/tile-translate %s --tile-to-ptx --chip=sm_80 -o %t.ptx && FileCheck %s --check-prefix=PTX < %t.ptx
// PTX-LABEL: .entry approximate
// PTX-NOT: f64
// PTX-DAG: ex2.approx.ftz.f32
// PTX-DAG: div.approx.f32
// PTX-DAG: max.NaN.f32
// PTX: .entry precise
// PTX-NOT: approx.f32
// PTX: f64
// PTX-NOT: approx.f32
// PTX: div.rn.f32
// PTX: .entry powers
// PTX-COUNT-1: ex2.approx.ftz.f32
// in: np.concatenate([30 * normal(58), [np.nan, np.inf, -np.inf, -0.0, 0.0, -140.0]]).astype(f32), 1 + np.abs(normal(64)), np.zeros(64, f32), np.zeros(64, f32), np.zeros(64, f32)
// expect: x0
// expect: x1
// expect: np.fmin(np.exp2(np.maximum(x0, f32(-3))) / x1, np.maximum(x0, f32(-3)))
// expect: np.exp2(x0) / x1
// expect: np.exp2(x0)
// tolerance: 1e-6
!t = tensor<64xf32>
func.func @main(%x: memref<64xf32>, %y: memref<64xf32>, %a: memref<64xf32>, %b: memref<64xf32>, %c: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @approximate grid(%c1) ins(%x, %y : memref<64xf32>, memref<64xf32>) outs(%a : memref<64xf32>)
  tile.launch @precise grid(%c1) ins(%x, %y : memref<64xf32>, memref<64xf32>) outs(%b : memref<64xf32>)
  tile.launch @powers grid(%c1) ins(%x : memref<64xf32>) outs(%c : memref<64xf32>)
  return
}
tile.kernel @approximate(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<64xf32> to !tile.view<64xf32>
  %Y = tile.view %y : memref<64xf32> to !tile.view<64xf32>
  %Z = tile.view %z : memref<64xf32> to !tile.view<64xf32>
  %low = arith.constant dense<-3.0> : !t
  %a = tile.load %X[%c0] : !tile.view<64xf32> -> !t
  %b = tile.load %Y[%c0] : !tile.view<64xf32> -> !t
  %more = arith.maximumf %a, %low : !t
  %e = math.exp2 %more fastmath<afn> : !t
  %q = arith.divf %e, %b fastmath<afn> : !t
  %r = arith.minnumf %q, %more : !t
  tile.store %r, %Z[%c0] : !t, !tile.view<64xf32>
  tile.return
}
tile.kernel @precise(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<64xf32> to !tile.view<64xf32>
  %Y = tile.view %y : memref<64xf32> to !tile.view<64xf32>
  %Z = tile.view %z : memref<64xf32> to !tile.view<64xf32>
  %a = tile.load %X[%c0] : !tile.view<64xf32> -> !t
  %b = tile.load %Y[%c0] : !tile.view<64xf32> -> !t
  %e = math.exp2 %a : !t
  %q = arith.divf %e, %b : !t
  tile.store %q, %Z[%c0] : !t, !tile.view<64xf32>
  tile.return
}
tile.kernel @powers(%x: memref<64xf32>, %z: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<64xf32> to !tile.view<64xf32>
  %Z = tile.view %z : memref<64xf32> to !tile.view<64xf32>
  %a = tile.load %X[%c0] : !tile.view<64xf32> -> !t
  %e = math.exp2 %a fastmath<afn> : !t
  tile.store %e, %Z[%c0] : !t, !tile.view<64xf32>
  tile.return
}
