// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// Rows of dynamic length (walked in tiles), of static length (one tile), and along a middle dimension.
// in: 30 * normal(5, 1), normal(5, 37), normal(2, 9, 6)
// in: 30 * normal(7, 2503), normal(1, 37), normal(3, 9, 1)
// in: 30 * normal(1, 1024), normal(11, 37), normal(1, 9, 130)
// expect: np.exp(x0.astype(f64) - x0.max(1)[:, None]) / np.exp(x0.astype(f64) - x0.max(1)[:, None]).sum(1)[:, None]
// expect: np.exp(x1.astype(f64)) / np.exp(x1.astype(f64)).sum(1)[:, None]
// expect: np.exp(x2.astype(f64)) / np.exp(x2.astype(f64)).sum(1)[:, None, :]
// tolerance: 1e-6
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x37xf32>, %z: tensor<?x9x?xf32>)
    -> (tensor<?x?xf32>, tensor<?x37xf32>, tensor<?x9x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %ym = tensor.dim %y, %c0 : tensor<?x37xf32>
  %ye = tensor.empty(%ym) : tensor<?x37xf32>
  %s = linalg.softmax dimension(1) ins(%y : tensor<?x37xf32>) outs(%ye : tensor<?x37xf32>) -> tensor<?x37xf32>
  %zm = tensor.dim %z, %c0 : tensor<?x9x?xf32>
  %zn = tensor.dim %z, %c2 : tensor<?x9x?xf32>
  %ze = tensor.empty(%zm, %zn) : tensor<?x9x?xf32>
  %t = linalg.softmax dimension(1) ins(%z : tensor<?x9x?xf32>) outs(%ze : tensor<?x9x?xf32>) -> tensor<?x9x?xf32>
  return %r, %s, %t : tensor<?x?xf32>, tensor<?x37xf32>, tensor<?x9x?xf32>
}
