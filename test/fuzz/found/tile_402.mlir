// Program 402 of the fuzzer, cut down: wrong on cpu. 
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu --replay %s
// in: normal f32 48x40 543856
// in: wild f32 1 420569
// in: normal f64 1 171209
// in: normal f16 12x2 23757
// in: normal f16 1x1 484332
tile.kernel @k402_0(%v0: memref<48x?xf32>, %v1: memref<?xf32>, %v2: memref<?xf64>, %v3: memref<?x?xf16>, %v4: memref<1x?xf16>) {
  %v5 = tile.program_id 0
  %v6 = tile.view %v0 : memref<48x?xf32> to !tile.view<12x4xf32>
  %v7 = tile.load %v6[%v5, %v5] : !tile.view<12x4xf32> -> tensor<12x4xf32>
  %v8 = arith.truncf %v7 : tensor<12x4xf32> to tensor<12x4xf16>
  %v9 = math.log1p %v8 : tensor<12x4xf16>
  %v10 = tile.view %v3 : memref<?x?xf16> to !tile.view<12x4xf16>
  tile.store %v9, %v10[%v5, %v5] : tensor<12x4xf16>, !tile.view<12x4xf16>
  tile.return
}
func.func @main(%v0: tensor<48x?xf32>, %v1: tensor<?xf32>, %v2: tensor<?xf64>, %v3: tensor<?x?xf16>, %v4: tensor<1x?xf16>) -> (tensor<?x?xf16>) {
  %v5 = arith.constant 1 : index
  %v6, %v7, %v8 = tile.launch @k402_0 grid(%v5) ins(%v0, %v1 : tensor<48x?xf32>, tensor<?xf32>) outs(%v2, %v3, %v4 : tensor<?xf64>, tensor<?x?xf16>, tensor<1x?xf16>) -> tensor<?xf64>, tensor<?x?xf16>, tensor<1x?xf16>
  return %v7 : tensor<?x?xf16>
}
