// Complex numbers inside of a program: scalars and elements of tensors. Only real numbers go in and out.
// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --target=emulate:sm_80
// in: normal(4), normal(4), np.float64(0.7), np.float64(-1.3)
// expect: ((x0 + 1j*x1)**2).real
// expect: ((x0 + 1j*x1)**2).imag
// expect: np.abs(np.exp(x2 + 1j*x3) / (x2 + 1j*x3) - (1.5 - 2j))
// tolerance: 1e-5
// fallback: 1
#m = affine_map<(i) -> (i)>
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %u: f64, %v: f64) -> (tensor<4xf32>, tensor<4xf32>, f64) {
  %e = tensor.empty() : tensor<4xcomplex<f32>>
  %f = tensor.empty() : tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xcomplex<f32>>) {
  ^bb0(%a: f32, %b: f32, %o: complex<f32>):
    %z = complex.create %a, %b : complex<f32>
    %w = complex.mul %z, %z : complex<f32>
    linalg.yield %w : complex<f32>
  } -> tensor<4xcomplex<f32>>
  %r:2 = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%c : tensor<4xcomplex<f32>>) outs(%f, %f : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%z: complex<f32>, %o: f32, %p: f32):
    %a = complex.re %z : complex<f32>
    %b = complex.im %z : complex<f32>
    linalg.yield %a, %b : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  %c1 = complex.create %u, %v : complex<f64>
  %e1 = complex.exp %c1 : complex<f64>
  %d1 = complex.div %e1, %c1 : complex<f64>
  %k1 = complex.constant [1.5 : f64, -2.0 : f64] : complex<f64>
  %s1 = complex.sub %d1, %k1 : complex<f64>
  %a1 = complex.abs %s1 : complex<f64>
  return %r#0, %r#1, %a1 : tensor<4xf32>, tensor<4xf32>, f64
}
