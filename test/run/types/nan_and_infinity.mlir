// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// relu by arith.maximumf keeps NaN, as numpy's maximum does; sums and maxima of rows holding NaN are NaN.
// in: np.where(uniform(9, 301) < 0.01, f32("nan"), normal(9, 301)).astype(f32)
// in: np.where(uniform(9, 301) < 0.01, f32("inf"), normal(9, 301)).astype(f32)
// expect: np.maximum(x0, 0)
// expect: x0.max(axis=1)
// tolerance: 0
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<9x301xf32>) -> (tensor<9x301xf32>, tensor<9xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<9x301xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x301xf32>) outs(%e : tensor<9x301xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<9x301xf32>
  %f = tensor.empty() : tensor<9xf32>
  %z = linalg.fill ins(%low : f32) outs(%f : tensor<9xf32>) -> tensor<9xf32>
  %s = linalg.reduce { arith.maximumf } ins(%x : tensor<9x301xf32>) outs(%z : tensor<9xf32>) dimensions = [1]
  return %r, %s : tensor<9x301xf32>, tensor<9xf32>
}
