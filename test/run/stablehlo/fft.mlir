// A discrete Fourier transform, on complex numbers as pairs.
// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %tile_run %s --target=interpret --target=emulate:sm_80 --target=emulate:gfx942 | FileCheck %s
// CHECK-NOT: {{[1-9][0-9]* of}}
// CHECK: right
// in: normal(3, 12)
// expect: np.abs(np.fft.fft(x0))
// tolerance: 1e-4
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x12xf32>) -> (tensor<3x12xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<3x12xf32>) -> tensor<3x12xcomplex<f32>>
    %1 = stablehlo.abs %0 : (tensor<3x12xcomplex<f32>>) -> tensor<3x12xf32>
    return %1 : tensor<3x12xf32>
  }
  func.func private @fft(%arg0: tensor<3x12xf32>) -> tensor<3x12xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<3x12xf32>) -> tensor<3x12xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [12] : (tensor<3x12xcomplex<f32>>) -> tensor<3x12xcomplex<f32>>
    return %1 : tensor<3x12xcomplex<f32>>
  }
}
