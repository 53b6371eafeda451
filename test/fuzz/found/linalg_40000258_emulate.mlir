// Program 40000258 of the fuzzer, cut down: wrong on GPUs: a group folded a dimension without elements.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s
// in: special f64 1x1x0x16 898755
func.func @main(%v0: tensor<1x1x0x16xf64>) -> (tensor<1xf64>) {
  %v1 = arith.constant dense<0.0> : tensor<1x1x0xf64>
  %v2 = arith.constant 1.0 : f64
  %v3 = linalg.fill ins(%v2 : f64) outs(%v1 : tensor<1x1x0xf64>) -> tensor<1x1x0xf64>
  %v4 = linalg.reduce { arith.maximumf } ins(%v0 : tensor<1x1x0x16xf64>) outs(%v3 : tensor<1x1x0xf64>) dimensions = [3]
  %v5 = arith.constant dense<0.0> : tensor<1xf64>
  %v6 = arith.constant -0.5 : f64
  %v7 = linalg.fill ins(%v6 : f64) outs(%v5 : tensor<1xf64>) -> tensor<1xf64>
  %v8 = linalg.reduce { arith.maximumf } ins(%v4 : tensor<1x1x0xf64>) outs(%v7 : tensor<1xf64>) dimensions = [0, 2]
  return %v8 : tensor<1xf64>
}
