// lax.top_k: the first of equals comes first.
// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %tile_run %s --target=interpret --target=emulate:sm_80 --target=emulate:gfx942 | FileCheck %s
// CHECK-NOT: {{[1-9][0-9]* of}}
// CHECK: right
// in: np.round(normal(4, 6))
// expect: -np.sort(-x0, 1)[:, :2]
// expect: np.argsort(-x0, 1, kind="stable")[:, :2]
// tolerance: 0
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32>) -> (tensor<4x2xf32> {jax.result_info = "result[0]"}, tensor<4x2xi32> {jax.result_info = "result[1]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
    return %values, %indices : tensor<4x2xf32>, tensor<4x2xi32>
  }
}
