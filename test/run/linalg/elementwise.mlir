// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// in: normal(1, 1)
// in: normal(7, 13)
// in: normal(0, 5)
// in: normal(37, 1021)
// expect: np.exp(x0.astype(f64)) + np.tanh(x0.astype(f64)) * erf(x0.astype(f64))
// tolerance: 2e-6
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %b = math.exp %a : f32
    %t = math.tanh %a : f32
    %f = math.erf %a : f32
    %p = arith.mulf %t, %f : f32
    %s = arith.addf %b, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
