// A product whose rows have two sizes that only the program knows, none of them 1, one of them 1, and none at all.
// RUN: %python -c "import numpy; [numpy.save('%t.%%d.npy' %% i, numpy.random.default_rng(i).standard_normal((*s, 24), 'f4')) for i, s in enumerate([(3, 7), (1, 5), (5, 1), (0, 4)])]"
// RUN: %tile_run %s --in=%t.0.npy --check-against=interpret
// RUN: %tile_run %s --in=%t.1.npy --check-against=interpret
// RUN: %tile_run %s --in=%t.2.npy --check-against=interpret
// RUN: %tile_run %s --in=%t.3.npy --check-against=interpret
#rows = [affine_map<(a, b, n, k) -> (a, b, k)>, affine_map<(a, b, n, k) -> (n, k)>, affine_map<(a, b, n, k) -> (a, b, n)>]
#all = affine_map<(a, b, n) -> (a, b, n)>
func.func @main(%x: tensor<?x?x24xf32>) -> tensor<?x?x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[
    [1.0, -2.0, 0.5, 3.0, 1.0, 2.0, -1.0, 0.25, 1.5, 2.5, 3.5, -4.0, 5.0, 1.0, 0.0, 2.0, 1.0, 1.0, -3.0, 2.0, 4.0, 0.5, 0.5, 1.0],
    [2.0, 1.0, -0.5, 3.0, 7.0, 2.0, 1.0, 0.75, 1.5, -2.5, 3.5, 4.0, 5.0, 1.0, 8.0, 2.0, 1.0, 9.0, 3.0, 2.0, -4.0, 0.5, 0.5, 1.0],
    [0.0, 4.0, 0.5, -3.0, 1.0, 6.0, 1.0, 0.25, 2.5, 2.5, 3.0, 4.0, 5.0, 0.0, 0.0, 2.0, 1.0, 1.0, 3.0, -2.0, 4.0, 1.5, 2.5, 1.0]]> : tensor<3x24xf32>
  %a = tensor.dim %x, %c0 : tensor<?x?x24xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x24xf32>
  %e = tensor.empty(%a, %b) : tensor<?x?x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  %r = linalg.generic {indexing_maps = #rows, iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x?x24xf32>, tensor<3x24xf32>) outs(%f : tensor<?x?x3xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x?x3xf32>
  %n = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r : tensor<?x?x3xf32>) outs(%e : tensor<?x?x3xf32>) {
  ^bb0(%u: f32, %o: f32):
    %m = arith.maximumf %u, %zero : f32
    linalg.yield %m : f32
  } -> tensor<?x?x3xf32>
  return %n : tensor<?x?x3xf32>
}
