// Vectors of several registers are compared register by register: gcc 12 compares them lane by lane.
// RUN: tile-translate %s --tile-to-c-source --chip=znver4 | FileCheck %s

// CHECK: #define compare_parts(T, a, sign, b)
// CHECK: s64x16 v{{[0-9]+}} = compare_parts(s64x16, (s64x16)(v{{[0-9]+}}), <, (s64x16)(v{{[0-9]+}}))
func.func @main(%x: tensor<1003xi64>, %y: tensor<1003xi64>, %z: tensor<1003xf64>) -> tensor<1003xf64> {
  %e = tensor.empty() : tensor<1003xf64>
  %c0 = arith.constant 0.0 : f64
  %r = linalg.map ins(%x, %y, %z : tensor<1003xi64>, tensor<1003xi64>, tensor<1003xf64>) outs(%e : tensor<1003xf64>)
    (%a: i64, %b: i64, %c: f64, %o: f64) {
      %less = arith.cmpi slt, %a, %b : i64
      %s = arith.select %less, %c, %c0 : f64
      linalg.yield %s : f64
    }
  return %r : tensor<1003xf64>
}
