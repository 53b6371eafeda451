// Crash: a product of no rows by block-scaled weights; the sizes of a program were divided by zero.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s
// in: normal f32 0x128 1
// in: normal f8E4M3FN 32x4x32 2
// in: normal f8E4M3FN 32x4 3
func.func @main(%x: tensor<0x128xf32>, %code: tensor<32x4x32xf8E4M3FN>, %scale: tensor<32x4xf8E4M3FN>) -> tensor<0x32xf32> {
  %e = tensor.empty() : tensor<32x4x32xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b)>, affine_map<(a, b, c) -> (a, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%code, %scale : tensor<32x4x32xf8E4M3FN>, tensor<32x4xf8E4M3FN>) outs(%e : tensor<32x4x32xf32>) {
  ^bb0(%c: f8E4M3FN, %r: f8E4M3FN, %o: f32):
    %w = arith.extf %c : f8E4M3FN to f32
    %s = arith.extf %r : f8E4M3FN to f32
    %p = arith.mulf %w, %s : f32
    linalg.yield %p : f32
  } -> tensor<32x4x32xf32>
  %rows = tensor.collapse_shape %d [[0], [1, 2]] : tensor<32x4x32xf32> into tensor<32x128xf32>
  %z = arith.constant dense<0.0> : tensor<0x32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %rows : tensor<0x128xf32>, tensor<32x128xf32>) outs(%z : tensor<0x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<0x32xf32>
  return %y : tensor<0x32xf32>
}
