// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// Products of f16 into f16 and into f32, with one and with several blocks of k, a factor that lies by columns, an initial
// value and an epilogue; and of bf16 (which travels as uint16) into bf16.
// in: normal(13, 77).astype(f16), normal(77, 37).astype(f16), normal(9, 1100).astype(f16), normal(33, 1100).astype(f16), normal(9, 33).astype(f16), integers(0x3c00, 0x3f80, 21, 1100).astype(np.uint16), integers(0xbc00, 0xbf80, 1100, 34).astype(np.uint16)
// expect: np.maximum(x0.astype(f64) @ x1.astype(f64), 0)
// expect: x0.astype(f64) @ x1.astype(f64)
// expect: x2.astype(f64) @ x3.astype(f64).T + x4
// expect: (x5.astype(np.uint32) << 16).view(f32).astype(f64) @ (x6.astype(np.uint32) << 16).view(f32).astype(f64)
// tolerance: 6e-2
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%a: tensor<13x77xf16>, %b: tensor<77x37xf16>, %x: tensor<9x1100xf16>, %y: tensor<33x1100xf16>, %start: tensor<9x33xf16>,
                %p: tensor<21x1100xbf16>, %q: tensor<1100x34xbf16>) -> (tensor<13x37xf16>, tensor<13x37xf32>, tensor<9x33xf16>, tensor<21x34xf32>) {
  %zero = arith.constant 0.0 : f16
  %zero32 = arith.constant 0.0 : f32
  %zeroB = arith.constant 0.0 : bf16
  %e0 = tensor.empty() : tensor<13x37xf16>
  %f0 = linalg.fill ins(%zero : f16) outs(%e0 : tensor<13x37xf16>) -> tensor<13x37xf16>
  %m0 = linalg.matmul ins(%a, %b : tensor<13x77xf16>, tensor<77x37xf16>) outs(%f0 : tensor<13x37xf16>) -> tensor<13x37xf16>
  %r0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m0 : tensor<13x37xf16>) outs(%e0 : tensor<13x37xf16>) {
  ^bb0(%v: f16, %unused: f16):
    %m = arith.maximumf %v, %zero : f16
    linalg.yield %m : f16
  } -> tensor<13x37xf16>
  %e1 = tensor.empty() : tensor<13x37xf32>
  %f1 = linalg.fill ins(%zero32 : f32) outs(%e1 : tensor<13x37xf32>) -> tensor<13x37xf32>
  %m1 = linalg.matmul ins(%a, %b : tensor<13x77xf16>, tensor<77x37xf16>) outs(%f1 : tensor<13x37xf32>) -> tensor<13x37xf32>
  %m2 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<9x1100xf16>, tensor<33x1100xf16>) outs(%start : tensor<9x33xf16>) {
  ^bb0(%u: f16, %v: f16, %s: f16):
    %t = arith.mulf %u, %v : f16
    %w = arith.addf %s, %t : f16
    linalg.yield %w : f16
  } -> tensor<9x33xf16>
  %e3 = tensor.empty() : tensor<21x34xbf16>
  %f3 = linalg.fill ins(%zeroB : bf16) outs(%e3 : tensor<21x34xbf16>) -> tensor<21x34xbf16>
  %m3 = linalg.matmul ins(%p, %q : tensor<21x1100xbf16>, tensor<1100x34xbf16>) outs(%f3 : tensor<21x34xbf16>) -> tensor<21x34xbf16>
  %e4 = tensor.empty() : tensor<21x34xf32>
  %r3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m3 : tensor<21x34xbf16>) outs(%e4 : tensor<21x34xf32>) {
  ^bb0(%v: bf16, %unused: f32):
    %w = arith.extf %v : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<21x34xf32>
  return %r0, %m1, %m2, %r3 : tensor<13x37xf16>, tensor<13x37xf32>, tensor<9x33xf16>, tensor<21x34xf32>
}
