// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// in: normal(1, 1), normal(1, 1)
// in: normal(3, 5), normal(5, 2)
// in: normal(127, 511), normal(511, 255)
// in: normal(8, 256), normal(256, 32)
// in: normal(9, 257), normal(257, 33)
// in: normal(300, 7), normal(7, 700)
// in: normal(5, 0), normal(0, 6)
// in: normal(0, 4), normal(4, 6)
// expect: x0.astype(f64) @ x1.astype(f64)
// tolerance: 1e-4
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}
