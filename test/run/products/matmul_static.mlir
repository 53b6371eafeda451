// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// Static and odd sizes; the accumulator starts from an argument.
// in: normal(61, 67), normal(67, 71), normal(61, 71)
// expect: x0.astype(f64) @ x1.astype(f64) + x2
func.func @main(%a: tensor<61x67xf32>, %b: tensor<67x71xf32>, %c: tensor<61x71xf32>) -> tensor<61x71xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<61x67xf32>, tensor<67x71xf32>) outs(%c : tensor<61x71xf32>) -> tensor<61x71xf32>
  return %r : tensor<61x71xf32>
}
