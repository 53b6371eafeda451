// Program 374 of the fuzzer, cut down: wrong on cpu. 
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu --replay %s
// in: normal f32 1x97 146624
// in: normal f32 1x1x24 323629
tile.kernel @k374_0(%v0: memref<1x?xf32>, %v1: memref<1x?x24xf32>) {
  %v2 = tile.program_id 0
  %v3 = tile.view %v0 : memref<1x?xf32> to !tile.view<1x1xf32, pad = nan>
  %v4 = arith.constant dense<0> : tensor<1xindex>
  %v5 = arith.constant dense<0> : tensor<1xi64>
  %v6 = tile.gather %v3[%v4, %v5] bounds(clamp) : !tile.view<1x1xf32, pad = nan>[tensor<1xindex>, tensor<1xi64>] -> tensor<1x1xf32>
  %v7 = arith.constant dense<1.0> : tensor<1x24xf32>
  %v8 = arith.constant dense<0.0> : tensor<1x24xf32>
  %v9 = tile.mma %v6, %v7, %v8 precision tf32 : tensor<1x1xf32>, tensor<1x24xf32> -> tensor<1x24xf32>
  %v10 = tile.view %v1[%v2, _, _] : memref<1x?x24xf32> to !tile.view<1x24xf32>
  tile.store %v9, %v10[%v2, %v2] : tensor<1x24xf32>, !tile.view<1x24xf32>
  tile.return
}
func.func @main(%v0: memref<1x?xf32>, %v1: memref<1x?x24xf32>) {
  %v2 = arith.constant 1 : index
  tile.launch @k374_0 grid(%v2) ins(%v0 : memref<1x?xf32>) outs(%v1 : memref<1x?x24xf32>)
  return 
}
