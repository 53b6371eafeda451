// Program 89 of the fuzzer, cut down: wrong on cpu. 
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu --replay %s
// in: normal f32 1x3x1x13x1 194530
// in: positive f32 1x1x1x7x1 336760
func.func @main(%v0: tensor<1x?x1x13x?xf32>, %v1: tensor<?x1x?x7x?xf32>) -> (tensor<?x?x1x13x7xf32>) {
  %v2 = arith.constant 0 : index
  %v3 = tensor.dim %v1, %v2 : tensor<?x1x?x7x?xf32>
  %v4 = arith.constant 1 : index
  %v5 = tensor.dim %v0, %v4 : tensor<1x?x1x13x?xf32>
  %v6 = tensor.empty(%v3, %v5) : tensor<?x?x1x13x7xf32>
  %v7 = arith.constant 1.0 : f32
  %v8 = linalg.fill ins(%v7 : f32) outs(%v6 : tensor<?x?x1x13x7xf32>) -> tensor<?x?x1x13x7xf32>
  %v9 = linalg.batch_mmt4d ins(%v0, %v1 : tensor<1x?x1x13x?xf32>, tensor<?x1x?x7x?xf32>) outs(%v8 : tensor<?x?x1x13x7xf32>) -> tensor<?x?x1x13x7xf32>
  return %v9 : tensor<?x?x1x13x7xf32>
}
