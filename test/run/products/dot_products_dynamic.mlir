// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// The same with sizes known late, the right operand transposed, several blocks of k.
// in: integers(-128, 128, 9, 1100).astype(i8), integers(-128, 128, 17, 1100).astype(i8), integers(0x3c00, 0x4000, 5, 7).astype(np.uint16), integers(0xbc00, 0xc000, 3, 7).astype(np.uint16)
// in: integers(-128, 128, 1, 5).astype(i8), integers(-128, 128, 1, 5).astype(i8), integers(0x3c00, 0x4000, 9, 700).astype(np.uint16), integers(0xbc00, 0xc000, 33, 700).astype(np.uint16)
// expect: (x0.astype(i64) @ x1.T.astype(i64)).astype(i32)
// expect: (x2.astype(np.uint32) << 16).view(f32).astype(f64) @ (x3.T.astype(np.uint32) << 16).view(f32).astype(f64)
// tolerance: 1e-5
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @main(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %x: tensor<?x?xbf16>, %y: tensor<?x?xbf16>) -> (tensor<?x?xi32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %none = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %n = tensor.dim %b, %c0 : tensor<?x?xi8>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %p = linalg.matmul indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) -> tensor<?x?xi32>
  %m2 = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %n2 = tensor.dim %y, %c0 : tensor<?x?xbf16>
  %e2 = tensor.empty(%m2, %n2) : tensor<?x?xf32>
  %f2 = linalg.fill ins(%none : f32) outs(%e2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %q = linalg.matmul indexing_maps = [#a, #b, #c] ins(%x, %y : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%f2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p, %q : tensor<?x?xi32>, tensor<?x?xf32>
}
