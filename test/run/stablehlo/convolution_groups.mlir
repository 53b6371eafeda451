// A convolution in two groups with a dilated kernel.
// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %tile_run %s --target=interpret --target=emulate:sm_80 --target=emulate:gfx942 | FileCheck %s
// CHECK-NOT: {{[1-9][0-9]* of}}
// CHECK: right
// in: normal(2, 4, 8, 8), normal(6, 2, 3, 3)
// expect: np.concatenate([np.einsum("bcijhw,ochw->boij", np.lib.stride_tricks.sliding_window_view(x0[:, 2 * g:2 * g + 2], (5, 3), (2, 3))[:, :, :, :, ::2], x1[3 * g:3 * g + 3]) for g in range(2)], 1)
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x4x8x8xf32>, %arg1: tensor<6x2x3x3xf32>) -> (tensor<2x6x4x6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [2, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x4x8x8xf32>, tensor<6x2x3x3xf32>) -> tensor<2x6x4x6xf32>
    return %0 : tensor<2x6x4x6xf32>
  }
}
