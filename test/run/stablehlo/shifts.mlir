// Shifts by the width or more.
// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %tile_run %s --target=interpret --target=emulate:sm_80 --target=emulate:gfx942 | FileCheck %s
// CHECK-NOT: {{[1-9][0-9]* of}}
// CHECK: right
// in: np.array([7, -7, -2**31, 5, -1], np.int32), np.array([31, 32, 33, -1, 1], np.int32)
// expect: np.array([-2**31, 0, 0, 0, -2])
// expect: np.array([0, 0, 0, 0, 2**31 - 1])
// expect: np.array([0, -1, -1, 0, -1])
// tolerance: 0
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xi32>, %arg1: tensor<5xi32>) -> (tensor<5xi32> {jax.result_info = "result[0]"}, tensor<5xi32> {jax.result_info = "result[1]"}, tensor<5xi32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.shift_left %arg0, %arg1 : tensor<5xi32>
    %1 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<5xi32>
    %2 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<5xi32>
    return %0, %1, %2 : tensor<5xi32>, tensor<5xi32>, tensor<5xi32>
  }
}
