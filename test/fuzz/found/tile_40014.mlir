// Program 40014 of the fuzzer, cut down: of -0 and +0 maxnumf and minnumf give either, and the interpreter took the sign that
// it got, of the result and of a product with it, for the only right one.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s | FileCheck %s
// CHECK-COUNT-3: right
// in: special f32 9x8 1
// in: special f32 9x8 2
func.func @main(%x: tensor<9x8xf32>, %y: tensor<9x8xf32>) -> (tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<9x8xf32>
  %minus = arith.constant dense<-0.0> : tensor<9x8xf32>
  %p = arith.mulf %x, %zero : tensor<9x8xf32>
  %q = arith.mulf %y, %minus : tensor<9x8xf32>
  %m = arith.maxnumf %p, %q : tensor<9x8xf32>
  %n = arith.minnumf %p, %q : tensor<9x8xf32>
  %a = arith.mulf %m, %p : tensor<9x8xf32>
  %c = arith.mulf %n, %q : tensor<9x8xf32>
  %b = math.roundeven %c : tensor<9x8xf32>
  return %m, %n, %a, %b : tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>, tensor<9x8xf32>
}
