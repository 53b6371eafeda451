// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// Batched products with operands in every order: both transposed, and the result's axes exchanged.
// in: normal(3, 37, 20), normal(3, 41, 37)
// in: normal(1, 300, 5), normal(1, 7, 300)
// expect: np.einsum("bkm,bnk->bmn", x0.astype(f64), x1.astype(f64))
// expect: np.einsum("bkm,bnk->nbm", x0.astype(f64), x1.astype(f64))
#a = affine_map<(b, m, n, k) -> (b, k, m)>
#b = affine_map<(b, m, n, k) -> (b, n, k)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
#d = affine_map<(b, m, n, k) -> (n, b, m)>
func.func @main(%x: tensor<?x?x?xf32>, %y: tensor<?x?x?xf32>) -> (tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %m = tensor.dim %x, %c2 : tensor<?x?x?xf32>
  %n = tensor.dim %y, %c1 : tensor<?x?x?xf32>
  %e = tensor.empty(%batch, %m, %n) : tensor<?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%z : tensor<?x?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<?x?x?xf32>
  %f = tensor.empty(%n, %batch, %m) : tensor<?x?x?xf32>
  %w = linalg.fill ins(%zero : f32) outs(%f : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %v = linalg.generic {indexing_maps = [#a, #b, #d], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%w : tensor<?x?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<?x?x?xf32>
  return %r, %v : tensor<?x?x?xf32>, tensor<?x?x?xf32>
}
