// Program 1249 of the second generator, cut down: a slice of one element with strides crashed upstream's passes of buffers.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80 --replay %s | FileCheck %s
// CHECK-COUNT-2: right
// in: normal f32 1x1 1
func.func @main(%a: tensor<1x1xf32>) -> tensor<1xf32> {
  %c = arith.constant dense<1.0> : tensor<1xf32>
  %s = tensor.extract_slice %a[0, 0] [1, 1] [2, 3] : tensor<1x1xf32> to tensor<1xf32>
  %r = arith.addf %s, %c : tensor<1xf32>
  return %r : tensor<1xf32>
}
