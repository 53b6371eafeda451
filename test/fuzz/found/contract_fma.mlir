// Programs 2 and 71 of the second generator, cut down: math.fma of 8 bits was not lowered, and a function of bf16 that is an
// instruction of f32 became a call of __truncsfbf2, which no library has.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s | FileCheck %s
// CHECK-COUNT-3: right
// in: normal f8E4M3FN 37 1
// in: special f8E5M2 37 2
// in: special bf16 37 3
func.func @main(%a: tensor<37xf8E4M3FN>, %b: tensor<37xf8E5M2>, %c: tensor<37xbf16>)
    -> (tensor<37xf8E4M3FN>, tensor<37xf8E5M2>, tensor<37xbf16>, tensor<37xbf16>, tensor<37xbf16>) {
  %0 = math.fma %a, %a, %a : tensor<37xf8E4M3FN>
  %1 = math.fma %b, %b, %b : tensor<37xf8E5M2>
  %2 = math.fma %c, %c, %c : tensor<37xbf16>
  %3 = math.sqrt %2 : tensor<37xbf16>
  %4 = math.roundeven %c : tensor<37xbf16>
  return %0, %1, %2, %3, %4 : tensor<37xf8E4M3FN>, tensor<37xf8E5M2>, tensor<37xbf16>, tensor<37xbf16>, tensor<37xbf16>
}
