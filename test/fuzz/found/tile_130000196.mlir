// Program 130000196 of the fuzzer, cut down: the judge had the value of cbrt from glibc, 3 ulp off.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s | FileCheck %s
// CHECK-COUNT-3: right
// in: normal f64 31x40x7 894767
// in: normal f64 1x15x50 271691
tile.kernel @k130000196_0(%v0: memref<?x?x?xf64>, %v1: memref<1x15x?xf64>) attributes {warps = 1 : i32} {
  %v2 = tile.program_id 0
  %v3 = tile.program_id 1
  %v4 = tile.program_id 2
  %v5 = tile.view %v0 : memref<?x?x?xf64> to !tile.view<33x17x1xf64, strides = [1, 2, 2]>
  %v6 = tile.load %v5[%v2, %v2, %v2] : !tile.view<33x17x1xf64, strides = [1, 2, 2]> -> tensor<33x17x1xf64>
  %v7 = tile.transpose %v6 [2, 1, 0] : tensor<33x17x1xf64> -> tensor<1x17x33xf64>
  %v8 = math.cbrt %v7 : tensor<1x17x33xf64>
  %v9 = tile.view %v1 : memref<1x15x?xf64> to !tile.view<1x17x33xf64>
  tile.store %v8, %v9[%v2, %v3, %v4] : tensor<1x17x33xf64>, !tile.view<1x17x33xf64>
  tile.return
}
func.func @main(%v0: memref<?x?x?xf64>, %v1: memref<1x15x?xf64>) {
  %v2 = arith.constant 1 : index
  tile.launch @k130000196_0 grid(%v2, %v2, %v2) ins(%v0 : memref<?x?x?xf64>) outs(%v1 : memref<1x15x?xf64>)
  return 
}
