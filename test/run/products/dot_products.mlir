// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// Products that a CPU may take by dot instructions: i8 into i32 (wrapping, -128 among them) and bf16 (as uint16) into
// f32, odd and known sizes of k, an accumulator that is an argument, an epilogue. Where numbers of bf16 are so small that
// the instruction would lose them they count nevertheless: subnormal factors, and factors whose products are subnormal.
// in: np.full((9, 71), -128, i8), np.full((71, 33), -128, i8), integers(-1000, 1000, 9, 33), integers(0x3c00, 0x4000, 13, 77).astype(np.uint16), integers(0xbc00, 0xc000, 77, 37).astype(np.uint16), f32(-1)
// in: integers(-128, 128, 9, 71).astype(i8), integers(-128, 128, 71, 33).astype(i8), np.full((9, 33), 2147483647, i32), integers(0, 0x80, 13, 77).astype(np.uint16), integers(0x6000, 0x6400, 77, 37).astype(np.uint16), f32(2.0**50)
// in: np.zeros((9, 71), i8), integers(-128, 128, 71, 33).astype(i8), integers(-1000, 1000, 9, 33), np.where(np.arange(13 * 77).reshape(13, 77) % 5, 0x1c80, 0).astype(np.uint16), integers(0x2000, 0x2100, 77, 37).astype(np.uint16), f32(2.0**126)
// expect: (x0.astype(i64) @ x1.astype(i64) + x2).astype(i32)
// expect: np.maximum(float(x5) * ((x3.astype(np.uint32) << 16).view(f32).astype(f64) @ (x4.astype(np.uint32) << 16).view(f32).astype(f64)), 0)
// tolerance: 1e-5
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%a: tensor<9x71xi8>, %b: tensor<71x33xi8>, %c: tensor<9x33xi32>, %x: tensor<13x77xbf16>, %y: tensor<77x37xbf16>, %scale: f32) -> (tensor<9x33xi32>, tensor<13x37xf32>) {
  %p = linalg.matmul ins(%a, %b : tensor<9x71xi8>, tensor<71x33xi8>) outs(%c : tensor<9x33xi32>) -> tensor<9x33xi32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<13x37xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<13x37xf32>) -> tensor<13x37xf32>
  %q = linalg.matmul ins(%x, %y : tensor<13x77xbf16>, tensor<77x37xbf16>) outs(%f : tensor<13x37xf32>) -> tensor<13x37xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<13x37xf32>) outs(%e : tensor<13x37xf32>) {
  ^bb0(%v: f32, %unused: f32):
    %w = arith.mulf %v, %scale : f32
    %m = arith.maximumf %w, %zero : f32
    linalg.yield %m : f32
  } -> tensor<13x37xf32>
  return %p, %r : tensor<9x33xi32>, tensor<13x37xf32>
}
