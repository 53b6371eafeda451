// Cholesky decomposition of hermitian matrices, and solves with a triangle's adjoint from both sides.
// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %tile_run %s --target=interpret --target=emulate:sm_80 --target=emulate:gfx942 | FileCheck %s
// CHECK-NOT: {{[1-9][0-9]* of}}
// CHECK: right
// in: normal(2, 3, 3), normal(2, 3, 3), normal(2, 3, 4), normal(2, 3, 4)
// expect: np.linalg.cholesky((lambda c: c @ c.conj().transpose(0, 2, 1) + 5 * np.eye(3))(x0 + 1j * x1)).real
// expect: np.linalg.cholesky((lambda c: c @ c.conj().transpose(0, 2, 1) + 5 * np.eye(3))(x0 + 1j * x1)).imag
// expect: (lambda c, b: np.linalg.solve(np.linalg.cholesky(c @ c.conj().transpose(0, 2, 1) + 5 * np.eye(3)).conj().transpose(0, 2, 1), b))(x0 + 1j * x1, x2 + 1j * x3).real
// expect: (lambda c, b: np.linalg.solve(np.linalg.cholesky(c @ c.conj().transpose(0, 2, 1) + 5 * np.eye(3)).conj().transpose(0, 2, 1), b))(x0 + 1j * x1, x2 + 1j * x3).imag
// expect: (lambda c, b: np.linalg.solve(np.linalg.cholesky(c @ c.conj().transpose(0, 2, 1) + 5 * np.eye(3)).conj(), b).transpose(0, 2, 1))(x0 + 1j * x1, x2 + 1j * x3).real
// tolerance: 2e-5
func.func public @main(%x: tensor<2x3x3xf32>, %y: tensor<2x3x3xf32>, %u: tensor<2x3x4xf32>, %v: tensor<2x3x4xf32>)
    -> (tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x4x3xf32>) {
  %c = stablehlo.complex %x, %y : tensor<2x3x3xcomplex<f32>>
  %minus = stablehlo.negate %y : tensor<2x3x3xf32>
  %conj = stablehlo.complex %x, %minus : tensor<2x3x3xcomplex<f32>>
  %square = stablehlo.dot_general %c, %conj, batching_dims = [0] x [0], contracting_dims = [2] x [2]
      : (tensor<2x3x3xcomplex<f32>>, tensor<2x3x3xcomplex<f32>>) -> tensor<2x3x3xcomplex<f32>>
  %i = stablehlo.iota dim = 1 : tensor<2x3x3xi32>
  %j = stablehlo.iota dim = 2 : tensor<2x3x3xi32>
  %same = stablehlo.compare EQ, %i, %j, SIGNED : (tensor<2x3x3xi32>, tensor<2x3x3xi32>) -> tensor<2x3x3xi1>
  %five = stablehlo.constant dense<(5.0, 0.0)> : tensor<2x3x3xcomplex<f32>>
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<2x3x3xcomplex<f32>>
  %diagonal = stablehlo.select %same, %five, %zero : tensor<2x3x3xi1>, tensor<2x3x3xcomplex<f32>>
  %a = stablehlo.add %square, %diagonal : tensor<2x3x3xcomplex<f32>>
  %full = stablehlo.cholesky %a, lower = true : tensor<2x3x3xcomplex<f32>>
  %below = stablehlo.compare GE, %i, %j, SIGNED : (tensor<2x3x3xi32>, tensor<2x3x3xi32>) -> tensor<2x3x3xi1>
  %l = stablehlo.select %below, %full, %zero : tensor<2x3x3xi1>, tensor<2x3x3xcomplex<f32>>
  %b = stablehlo.complex %u, %v : tensor<2x3x4xcomplex<f32>>
  %r = "stablehlo.triangular_solve"(%l, %b) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose ADJOINT>}>
      : (tensor<2x3x3xcomplex<f32>>, tensor<2x3x4xcomplex<f32>>) -> tensor<2x3x4xcomplex<f32>>
  %t = stablehlo.transpose %b, dims = [0, 2, 1] : (tensor<2x3x4xcomplex<f32>>) -> tensor<2x4x3xcomplex<f32>>
  %s = "stablehlo.triangular_solve"(%l, %t) <{left_side = false, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose ADJOINT>}>
      : (tensor<2x3x3xcomplex<f32>>, tensor<2x4x3xcomplex<f32>>) -> tensor<2x4x3xcomplex<f32>>
  %l_re = stablehlo.real %l : (tensor<2x3x3xcomplex<f32>>) -> tensor<2x3x3xf32>
  %l_im = stablehlo.imag %l : (tensor<2x3x3xcomplex<f32>>) -> tensor<2x3x3xf32>
  %r_re = stablehlo.real %r : (tensor<2x3x4xcomplex<f32>>) -> tensor<2x3x4xf32>
  %r_im = stablehlo.imag %r : (tensor<2x3x4xcomplex<f32>>) -> tensor<2x3x4xf32>
  %s_re = stablehlo.real %s : (tensor<2x4x3xcomplex<f32>>) -> tensor<2x4x3xf32>
  return %l_re, %l_im, %r_re, %r_im, %s_re
      : tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x4x3xf32>
}
