// Program 70000444 of the fuzzer, cut down: refused on GPUs: sizes chosen for a kernel of threads made the convolution look like a product.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s
// in: normal f64 5x8x1 717476
// in: normal f64 2x1x5 408545
func.func @main(%v3: tensor<5x?x?xf64>, %v4: tensor<?x1x5xf64>) -> (tensor<5x3x5xf64>) {
  %v45 = tensor.empty() : tensor<5x3x5xf64>
  %v46 = arith.constant 1.0 : f64
  %v47 = linalg.fill ins(%v46 : f64) outs(%v45 : tensor<5x3x5xf64>) -> tensor<5x3x5xf64>
  %v48 = linalg.conv_1d_nwc_wcf {dilations = dense<[3]> : tensor<1xi64>, strides = dense<[2]> : tensor<1xi64>} ins(%v3, %v4 : tensor<5x?x?xf64>, tensor<?x1x5xf64>) outs(%v47 : tensor<5x3x5xf64>) -> tensor<5x3x5xf64>
  return %v48 : tensor<5x3x5xf64>
}
