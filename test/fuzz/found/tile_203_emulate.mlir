// Program 203 of the fuzzer, cut down: invalid on emulate:sm_80. 'llvm.call' op calls 'cbrtf', which the emulator does not know
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=emulate:sm_80,emulate:gfx942 --replay %s
// in: normal f32 32 1
// in: normal f64 32 2
// in: normal f32 32 3
// in: normal f64 32 4
tile.kernel @k203_0(%v0: memref<32xf32>, %v1: memref<32xf64>, %v2: memref<32xf32>, %v3: memref<32xf64>) attributes {warps = 1 : i32} {
  %v4 = arith.constant 0 : index
  %v5 = tile.view %v0 : memref<32xf32> to !tile.view<32xf32>
  %v6 = tile.load %v5[%v4] : !tile.view<32xf32> -> tensor<32xf32>
  %v7 = math.cbrt %v6 : tensor<32xf32>
  %v8 = tile.view %v2 : memref<32xf32> to !tile.view<32xf32>
  tile.store %v7, %v8[%v4] : tensor<32xf32>, !tile.view<32xf32>
  %v9 = tile.view %v1 : memref<32xf64> to !tile.view<32xf64>
  %v10 = tile.load %v9[%v4] : !tile.view<32xf64> -> tensor<32xf64>
  %v11 = math.erf %v10 : tensor<32xf64>
  %v12 = tile.view %v3 : memref<32xf64> to !tile.view<32xf64>
  tile.store %v11, %v12[%v4] : tensor<32xf64>, !tile.view<32xf64>
  tile.return
}
func.func @main(%v0: memref<32xf32>, %v1: memref<32xf64>, %v2: memref<32xf32>, %v3: memref<32xf64>) {
  %v4 = arith.constant 1 : index
  tile.launch @k203_0 grid(%v4) ins(%v0, %v1 : memref<32xf32>, memref<32xf64>) outs(%v2, %v3 : memref<32xf32>, memref<32xf64>)
  return
}
