// Program 60000062 of the fuzzer, cut down: wrong on the CPU: a product over no elements, in place, stored nothing.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu --replay %s
// in: normal f32 17x0 334137
// in: normal f32 0x16 366259
func.func @main(%v4: tensor<17x0xf32>, %v5: tensor<0x16xf32>) -> tensor<17x16xf32> {
  %v43 = tensor.empty() : tensor<17x16xf32>
  %v44 = arith.constant 2.0 : f32
  %v45 = linalg.fill ins(%v44 : f32) outs(%v43 : tensor<17x16xf32>) -> tensor<17x16xf32>
  %v46 = linalg.matmul ins(%v4, %v5 : tensor<17x0xf32>, tensor<0x16xf32>) outs(%v45 : tensor<17x16xf32>) -> tensor<17x16xf32>
  return %v46 : tensor<17x16xf32>
}
