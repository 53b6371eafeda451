// The gradient of a max pooling of overlapping windows: reduce_window, then select_and_scatter.
// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %tile_run %s --target=interpret --target=emulate:sm_80 --target=emulate:gfx942 | FileCheck %s
// CHECK-NOT: {{[1-9][0-9]* of}}
// CHECK: right
// in: normal(1, 5, 4, 2)
// expect: sum((lambda b, w: (lambda p, q: np.pad(2 * w.max() * (np.arange(w.size).reshape(w.shape) == w.argmax()), ((p[0], 5 - p[1]), (q[0], 4 - q[1])))[None, :, :, None] * np.eye(2, dtype=np.float32)[b[2]])((max(2 * b[0] - 1, 0), max(2 * b[0] - 1, 0) + w.shape[0]), (2 * b[1], 2 * b[1] + w.shape[1])))((i, j, c), x0[0, max(2 * i - 1, 0):2 * i + 2, 2 * j:2 * j + 2, c]) for i in range(3) for j in range(2) for c in range(2))
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x5x4x2xf32>) -> (tensor<1x5x4x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [0, 0], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %9 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<1x5x4x2xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x3x2x2xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<1x3x2x2xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x3x2x2xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<1x3x2x2xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.pad %arg0, %cst_2, low = [0, 1, 0, 0], high = [0, 1, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x5x4x2xf32>, tensor<f32>) -> tensor<1x7x4x2xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = "stablehlo.select_and_scatter"(%6, %5, %cst_3) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %9 = stablehlo.compare GE, %arg1, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }, {
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %9 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %9 : tensor<f32>
    }) : (tensor<1x7x4x2xf32>, tensor<1x3x2x2xf32>, tensor<f32>) -> tensor<1x7x4x2xf32>
    %8 = stablehlo.slice %7 [0:1, 1:6, 0:4, 0:2] : (tensor<1x7x4x2xf32>) -> tensor<1x5x4x2xf32>
    return %8 : tensor<1x5x4x2xf32>
  }
}
