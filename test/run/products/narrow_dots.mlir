// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// Products of bf16 (as uint16) into bf16, which a CPU may take by dot instructions: one and several blocks of k, an
// initial value, factors so small that the instruction would lose them. Results are scaled to be near 1.
// in: integers(0x3c00, 0x3f80, 13, 77).astype(np.uint16), integers(0xbc00, 0xbf80, 77, 37).astype(np.uint16), integers(0x3f00, 0x4000, 13, 37).astype(np.uint16), integers(0x3c00, 0x3f80, 21, 2100).astype(np.uint16), integers(0xbc00, 0xbf80, 2100, 34).astype(np.uint16), f32(2.0**-6)
// in: integers(0, 0x80, 13, 77).astype(np.uint16), integers(0x5c00, 0x5c80, 77, 37).astype(np.uint16), integers(0x1c00, 0x1c80, 13, 37).astype(np.uint16), integers(0, 0x80, 21, 2100).astype(np.uint16), integers(0x5c00, 0x5c80, 2100, 34).astype(np.uint16), f32(2.0**60)
// expect: float(x5) * ((x2.astype(np.uint32) << 16).view(f32).astype(f64) + (x0.astype(np.uint32) << 16).view(f32).astype(f64) @ (x1.astype(np.uint32) << 16).view(f32).astype(f64))
// expect: float(x5) * ((x3.astype(np.uint32) << 16).view(f32).astype(f64) @ (x4.astype(np.uint32) << 16).view(f32).astype(f64))
// tolerance: 4e-3
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%a: tensor<13x77xbf16>, %b: tensor<77x37xbf16>, %c: tensor<13x37xbf16>, %p: tensor<21x2100xbf16>, %q: tensor<2100x34xbf16>, %scale: f32) -> (tensor<13x37xf32>, tensor<21x34xf32>) {
  %m0 = linalg.matmul ins(%a, %b : tensor<13x77xbf16>, tensor<77x37xbf16>) outs(%c : tensor<13x37xbf16>) -> tensor<13x37xbf16>
  %e0 = tensor.empty() : tensor<13x37xf32>
  %r0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m0 : tensor<13x37xbf16>) outs(%e0 : tensor<13x37xf32>) {
  ^bb0(%v: bf16, %unused: f32):
    %w = arith.extf %v : bf16 to f32
    %s = arith.mulf %w, %scale : f32
    linalg.yield %s : f32
  } -> tensor<13x37xf32>
  %zero = arith.constant 0.0 : bf16
  %e1 = tensor.empty() : tensor<21x34xbf16>
  %f1 = linalg.fill ins(%zero : bf16) outs(%e1 : tensor<21x34xbf16>) -> tensor<21x34xbf16>
  %m1 = linalg.matmul ins(%p, %q : tensor<21x2100xbf16>, tensor<2100x34xbf16>) outs(%f1 : tensor<21x34xbf16>) -> tensor<21x34xbf16>
  %e2 = tensor.empty() : tensor<21x34xf32>
  %r1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m1 : tensor<21x34xbf16>) outs(%e2 : tensor<21x34xf32>) {
  ^bb0(%v: bf16, %unused: f32):
    %w = arith.extf %v : bf16 to f32
    %s = arith.mulf %w, %scale : f32
    linalg.yield %s : f32
  } -> tensor<21x34xf32>
  return %r0, %r1 : tensor<13x37xf32>, tensor<21x34xf32>
}
