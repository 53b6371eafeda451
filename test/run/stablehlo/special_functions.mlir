// Special functions of CHLO with the values of their definitions, and functions of complex numbers with those of numpy.
// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %tile_run %s --target=interpret --target=emulate:sm_80 --target=emulate:gfx942 | FileCheck %s
// CHECK-NOT: {{[1-9][0-9]* of}}
// CHECK: right
// in: np.array([-7.25, -1.5, -0.3, 0, 0.7, 2, 8.5, 40], f32), np.array([2, 3, 1.5, 4.25, 2, 4, 3, 9], f32), np.array([0.3, 1, 2.5, 7, 30, -1.5, -2, 0.8], f32), np.array([0, 1, 2, 3, 4, 1, 2.5, 5], f32), np.array([0.3, 1, 2.5, 7, 0.25, -1.5, 1, 30], f32), np.array([0.5, -2, 3, -0.3], f32), np.array([-1.25, 0.75, 0.1, -0.2], f32)
// expect: np.array([-0.14011852, -0.21903939, -0.11237756, 0, 0.18466998, 0.21526929, 0.13054936, 0.06248223])
// expect: np.array([12.2453645, 1.20205690, 1.40377977, 0.000692345274, 0.0338950604, 32.4323794, np.nan, 7.45572346])
// expect: np.array([-3.50252422, 1.64493407, -0.236204052, 0.00719819856, -24584.3754, 9.37924664, np.nan, 1.07269949e-06])
// expect: np.arccos(x5 + 1j * x6).real.astype(f32)
// expect: np.arccos(x5 + 1j * x6).imag.astype(f32)
// expect: np.arccosh(x5 + 1j * x6).real.astype(f32)
// expect: np.arccosh(x5 + 1j * x6).imag.astype(f32)
// expect: np.arcsin(x5 + 1j * x6).real.astype(f32)
// expect: np.arcsin(x5 + 1j * x6).imag.astype(f32)
// expect: np.arcsinh(x5 + 1j * x6).real.astype(f32)
// expect: np.arcsinh(x5 + 1j * x6).imag.astype(f32)
// expect: np.arctan(x5 + 1j * x6).real.astype(f32)
// expect: np.arctan(x5 + 1j * x6).imag.astype(f32)
// expect: np.arctanh(x5 + 1j * x6).real.astype(f32)
// expect: np.arctanh(x5 + 1j * x6).imag.astype(f32)
// expect: np.cosh(x5 + 1j * x6).real.astype(f32)
// expect: np.cosh(x5 + 1j * x6).imag.astype(f32)
// expect: np.sinh(x5 + 1j * x6).real.astype(f32)
// expect: np.sinh(x5 + 1j * x6).imag.astype(f32)
// expect: np.tan(x5 + 1j * x6).real.astype(f32)
// expect: np.tan(x5 + 1j * x6).imag.astype(f32)
// tolerance: 2e-5
func.func public @main(%a: tensor<8xf32>, %s: tensor<8xf32>, %q: tensor<8xf32>, %n: tensor<8xf32>, %p: tensor<8xf32>,
                       %x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = chlo.bessel_i1e %a : tensor<8xf32> -> tensor<8xf32>
  %1 = chlo.zeta %s, %q : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %2 = chlo.polygamma %n, %p : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %z = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  %acos = chlo.acos %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %acos_re = stablehlo.real %acos : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %acos_im = stablehlo.imag %acos : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %acosh = chlo.acosh %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %acosh_re = stablehlo.real %acosh : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %acosh_im = stablehlo.imag %acosh : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %asin = chlo.asin %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %asin_re = stablehlo.real %asin : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %asin_im = stablehlo.imag %asin : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %asinh = chlo.asinh %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %asinh_re = stablehlo.real %asinh : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %asinh_im = stablehlo.imag %asinh : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %atan = chlo.atan %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %atan_re = stablehlo.real %atan : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %atan_im = stablehlo.imag %atan : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %atanh = chlo.atanh %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %atanh_re = stablehlo.real %atanh : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %atanh_im = stablehlo.imag %atanh : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %cosh = chlo.cosh %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %cosh_re = stablehlo.real %cosh : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %cosh_im = stablehlo.imag %cosh : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %sinh = chlo.sinh %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %sinh_re = stablehlo.real %sinh : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %sinh_im = stablehlo.imag %sinh : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %tan = chlo.tan %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %tan_re = stablehlo.real %tan : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %tan_im = stablehlo.imag %tan : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %0, %1, %2, %acos_re, %acos_im, %acosh_re, %acosh_im, %asin_re, %asin_im, %asinh_re, %asinh_im, %atan_re, %atan_im, %atanh_re, %atanh_im, %cosh_re, %cosh_im, %sinh_re, %sinh_im, %tan_re, %tan_im : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
