// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// Rows, columns, everything; sum, maximum, product of f32 and the sum of i32.
// in: normal(1, 1), integers(-9, 9, 3, 2)
// in: normal(17, 1031), integers(-9, 9, 31, 67)
// in: normal(300, 9), integers(-9, 9, 1, 1000)
// expect: x0.astype(f64).sum(axis=1)
// expect: x0.max(axis=0)
// expect: x0.astype(f64).sum()
// expect: x1.sum(axis=0).astype(i32)
// tolerance: 2e-5
func.func @main(%x: tensor<?x?xf32>, %k: tensor<?x?xi32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %izero = arith.constant 0 : i32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %kn = tensor.dim %k, %c1 : tensor<?x?xi32>
  %e0 = tensor.empty(%m) : tensor<?xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %r0 = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%z0 : tensor<?xf32>) dimensions = [1]
  %e1 = tensor.empty(%n) : tensor<?xf32>
  %z1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %r1 = linalg.reduce { arith.maximumf } ins(%x : tensor<?x?xf32>) outs(%z1 : tensor<?xf32>) dimensions = [0]
  %e2 = tensor.empty() : tensor<f32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<f32>) -> tensor<f32>
  %r2 = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%z2 : tensor<f32>) dimensions = [0, 1]
  %e3 = tensor.empty(%kn) : tensor<?xi32>
  %z3 = linalg.fill ins(%izero : i32) outs(%e3 : tensor<?xi32>) -> tensor<?xi32>
  %r3 = linalg.reduce { arith.addi } ins(%k : tensor<?x?xi32>) outs(%z3 : tensor<?xi32>) dimensions = [0]
  return %r0, %r1, %r2, %r3 : tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<?xi32>
}
