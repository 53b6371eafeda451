// Program 142001618 of the second generator, cut down: a slice of lower rank that steps and keeps a size of 1 crashed
// upstream's passes of buffers.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80 --replay %s | FileCheck %s
// CHECK-COUNT-2: right
// in: integer i32 1x13x1 1
// in: integer i32 7x1 2
// in: integer i32 3x1x9 3
func.func @main(%a: tensor<1x13x1xi32>, %b: tensor<7x1xi32>, %c: tensor<3x1x9xi32>)
    -> (tensor<7x1xi32>, tensor<1x13x1xi32>, tensor<1x4xi32>) {
  %two = arith.constant dense<2> : tensor<7x1xi32>
  %s = tensor.extract_slice %a[0, 0, 0] [1, 7, 1] [1, 2, 1] : tensor<1x13x1xi32> to tensor<7x1xi32>
  %r = arith.muli %s, %two : tensor<7x1xi32>
  %p = arith.addi %b, %two : tensor<7x1xi32>
  %i = tensor.insert_slice %p into %a[0, 0, 0] [1, 7, 1] [1, 2, 1] : tensor<7x1xi32> into tensor<1x13x1xi32>
  %three = arith.constant dense<3> : tensor<1x4xi32>
  %t = tensor.extract_slice %c[2, 0, 1] [1, 1, 4] [1, 1, 2] : tensor<3x1x9xi32> to tensor<1x4xi32>
  %q = arith.muli %t, %three : tensor<1x4xi32>
  return %r, %i, %q : tensor<7x1xi32>, tensor<1x13x1xi32>, tensor<1x4xi32>
}
