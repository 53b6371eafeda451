// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// in: normal(3, 5, 7, 11)
// in: normal(2, 40, 1, 65)
// expect: x0.transpose(0, 2, 3, 1)
// expect: x0.transpose(3, 2, 1, 0)
// tolerance: 0
func.func @main(%x: tensor<?x?x?x?xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %a = tensor.dim %x, %c0 : tensor<?x?x?x?xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x?x?xf32>
  %c = tensor.dim %x, %c2 : tensor<?x?x?x?xf32>
  %d = tensor.dim %x, %c3 : tensor<?x?x?x?xf32>
  %e = tensor.empty(%a, %c, %d, %b) : tensor<?x?x?x?xf32>
  %y = linalg.transpose ins(%x : tensor<?x?x?x?xf32>) outs(%e : tensor<?x?x?x?xf32>) permutation = [0, 2, 3, 1]
  %f = tensor.empty(%d, %c, %b, %a) : tensor<?x?x?x?xf32>
  %z = linalg.transpose ins(%x : tensor<?x?x?x?xf32>) outs(%f : tensor<?x?x?x?xf32>) permutation = [3, 2, 1, 0]
  return %y, %z : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
}
