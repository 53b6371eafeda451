// Program 1043 of the fuzzer, cut down: wrong on cpu. 
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu --replay %s
// in: normal bf16 - 495560
// in: special bf16 3 569127
func.func @main(%v0: tensor<bf16>, %v1: tensor<3xbf16>) -> (tensor<3xbf16>) {
  %v2 = arith.constant dense<0.0> : tensor<3xbf16>
  %v3 = linalg.broadcast ins(%v0 : tensor<bf16>) outs(%v2 : tensor<3xbf16>) dimensions = [0]
  %v4 = linalg.mul ins(%v3, %v3 : tensor<3xbf16>, tensor<3xbf16>) outs(%v2 : tensor<3xbf16>) -> tensor<3xbf16>
  %v5 = linalg.mul ins(%v4, %v1 : tensor<3xbf16>, tensor<3xbf16>) outs(%v2 : tensor<3xbf16>) -> tensor<3xbf16>
  return %v5 : tensor<3xbf16>
}
