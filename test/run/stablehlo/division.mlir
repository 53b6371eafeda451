// Integer division by zero and of the smallest number.
// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %tile_run %s --target=interpret --target=emulate:sm_80 --target=emulate:gfx942 | FileCheck %s
// CHECK-NOT: {{[1-9][0-9]* of}}
// CHECK: right
// in: np.array([7, -7, -2**31, 5, 0], np.int32), np.array([0, 0, -1, -3, 0], np.int32)
// expect: np.array([-1, -1, -2**31, -1, -1])
// expect: np.array([7, -7, 0, 2, 0])
// tolerance: 0
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xi32>, %arg1: tensor<5xi32>) -> (tensor<5xi32> {jax.result_info = "result[0]"}, tensor<5xi32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.divide %arg0, %arg1 : tensor<5xi32>
    %1 = stablehlo.remainder %arg0, %arg1 : tensor<5xi32>
    return %0, %1 : tensor<5xi32>, tensor<5xi32>
  }
}
