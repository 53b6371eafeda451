// Crash: a factor of an index map that the strides of a view cannot be. The output's one row reads the image's first.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s
// in: normal f32 2x3x9x11 1
// in: normal f32 3x2x4 2
// in: normal f32 1x1 3
func.func @main(%image: tensor<2x3x?x11xf32>, %filter: tensor<3x2x4xf32>, %one: tensor<?x1xf32>) -> tensor<2x3x?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : index
  %rows = tensor.dim %one, %first : tensor<?x1xf32>
  %empty = tensor.empty(%rows) : tensor<2x3x?x4xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3x?x4xf32>) -> tensor<2x3x?x4xf32>
  %result = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<[4294967297, 2]> : tensor<2xi64>}
      ins(%image, %filter : tensor<2x3x?x11xf32>, tensor<3x2x4xf32>) outs(%filled : tensor<2x3x?x4xf32>) -> tensor<2x3x?x4xf32>
  return %result : tensor<2x3x?x4xf32>
}
