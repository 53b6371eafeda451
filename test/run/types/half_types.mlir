// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// f16 and bf16 (which travels as uint16): widened, computed in f32, rounded once, subnormals kept; a sum of f16 in f32.
// in: np.array([0, -0.0, 1, 6e-8, -6e-8, 65504, 1e-5, 3.14159], dtype=f16), np.array([0, 0x8000, 1, 0x8001, 0x3f80, 0x7f7f, 0x0080, 0x4049], dtype=np.uint16), normal(17, 129).astype(f16)
// in: normal(1000).astype(f16), integers(0, 0x7f00, 1000).astype(np.uint16), normal(3, 1).astype(f16)
// expect: (x0.astype(f32) * f32(0.5)).astype(f16)
// expect: (((x1.astype(np.uint32) << 16).view(f32) * f32(0.5)).view(np.uint32) + 0x7fff + (((x1.astype(np.uint32) << 16).view(f32) * f32(0.5)).view(np.uint32) >> 16 & 1) >> 16).astype(np.uint16)
// expect: x2.astype(f64).sum(axis=1)
// tolerance: 1e-5
#id = affine_map<(i) -> (i)>
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?xf16>, %y: tensor<?xbf16>, %z: tensor<?x?xf16>) -> (tensor<?xf16>, tensor<?xbf16>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf16>
  %e = tensor.empty(%n) : tensor<?xf16>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf16>) outs(%e : tensor<?xf16>) {
  ^bb0(%a: f16, %unused: f16):
    %w = arith.extf %a : f16 to f32
    %p = arith.mulf %w, %half : f32
    %r = arith.truncf %p : f32 to f16
    linalg.yield %r : f16
  } -> tensor<?xf16>
  %m = tensor.dim %y, %c0 : tensor<?xbf16>
  %f = tensor.empty(%m) : tensor<?xbf16>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<?xbf16>) outs(%f : tensor<?xbf16>) {
  ^bb0(%a: bf16, %unused: bf16):
    %w = arith.extf %a : bf16 to f32
    %p = arith.mulf %w, %half : f32
    %r = arith.truncf %p : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?xbf16>
  %k = tensor.dim %z, %c0 : tensor<?x?xf16>
  %g = tensor.empty(%k) : tensor<?xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%g : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%z : tensor<?x?xf16>) outs(%s0 : tensor<?xf32>) {
  ^bb0(%a: f16, %c: f32):
    %w = arith.extf %a : f16 to f32
    %t = arith.addf %c, %w : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %h, %b, %s : tensor<?xf16>, tensor<?xbf16>, tensor<?xf32>
}
