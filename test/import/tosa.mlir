// A program of tosa, by upstream's passes: docs/importing.md#tosa.
// RUN: mlir-opt %s --pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor))' -o %t.mlir
// RUN: %tile_run %t.mlir --check-against=interpret | FileCheck %s
// RUN: %tile_run %t.mlir --target=emulate:gfx942 --check-against=interpret | FileCheck %s
// CHECK: result 0: right
func.func @main(%x: tensor<1x6x6x4xf32>, %w: tensor<8x3x3x4xf32>, %b: tensor<8xf32>) -> tensor<1x4x4x8xf32> {
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %y = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x4xf32>, tensor<8x3x3x4xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x8xf32>
  %r = tosa.clamp %y {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %t = tosa.tanh %r : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %t : tensor<1x4x4x8xf32>
}
