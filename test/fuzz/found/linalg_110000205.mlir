// Program 110000205 of the fuzzer, cut down: past the end of a window the kernel multiplied the image by zero, which is nan where the
// image is infinite. In the second convolution 2 divides no window of 5.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s | FileCheck %s
// CHECK-COUNT-3: right
// in: special f32 2x5x14x3 26829
// in: positive f32 1x3x3x3 573858
// in: special f32 1x9x14x3 26830
// in: positive f32 5x3x3x3 573859
func.func @main(%x: tensor<2x5x?x3xf32>, %w: tensor<?x3x3x3xf32>, %y: tensor<1x9x14x3xf32>, %v: tensor<5x3x3x3xf32>)
    -> (tensor<2x5x4x3x3xf32>, tensor<1x5x4x3x3xf32>) {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<2x5x4x3x3xf32>
  %i = linalg.fill ins(%two : f32) outs(%e : tensor<2x5x4x3x3xf32>) -> tensor<2x5x4x3x3xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[1, 3]> : tensor<2xi64>}
    ins(%x, %w : tensor<2x5x?x3xf32>, tensor<?x3x3x3xf32>) outs(%i : tensor<2x5x4x3x3xf32>) -> tensor<2x5x4x3x3xf32>
  %f = tensor.empty() : tensor<1x5x4x3x3xf32>
  %j = linalg.fill ins(%two : f32) outs(%f : tensor<1x5x4x3x3xf32>) -> tensor<1x5x4x3x3xf32>
  %s = linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[1, 3]> : tensor<2xi64>}
    ins(%y, %v : tensor<1x9x14x3xf32>, tensor<5x3x3x3xf32>) outs(%j : tensor<1x5x4x3x3xf32>) -> tensor<1x5x4x3x3xf32>
  return %r, %s : tensor<2x5x4x3x3xf32>, tensor<1x5x4x3x3xf32>
}
