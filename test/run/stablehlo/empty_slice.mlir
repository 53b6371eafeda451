// Slices without elements: no offset lies inside an axis of size 0, and none is needed.
// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %tile_run %s --target=interpret --target=emulate:sm_80 --target=emulate:gfx942 | FileCheck %s
// CHECK-NOT: {{[1-9][0-9]* of}}
// CHECK: right
// in: np.zeros((0, 3), np.int32), np.array([[7, -7, 3], [5, 2, 1]], np.int32)
// expect: np.zeros((0, 2))
// expect: np.array([[7, -7, 3, 0], [5, 2, 1, 0]])
// expect: np.zeros((2, 0))
// tolerance: 0
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<0x3xi32>, %arg1: tensor<2x3xi32>) -> (tensor<0x2xi32>, tensor<2x4xi32>, tensor<2x0xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.slice %arg0 [0:0, 1:3] : (tensor<0x3xi32>) -> tensor<0x2xi32>
    %1 = stablehlo.pad %arg1, %c, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x4xi32>
    %2 = stablehlo.slice %arg1 [0:2, 3:3] : (tensor<2x3xi32>) -> tensor<2x0xi32>
    return %0, %1, %2 : tensor<0x2xi32>, tensor<2x4xi32>, tensor<2x0xi32>
  }
}
