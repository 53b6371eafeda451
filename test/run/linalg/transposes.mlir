// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// Transposes of odd and even sizes: whole squares are turned in registers, edges element by element; with an op on top,
// and from a product's operand.
// in: normal(67, 131), normal(64, 96), normal(33, 48), normal(40, 48)
// expect: x0.T
// expect: np.maximum(x1.T, 0)
// expect: x2.astype(f64) @ x3.T.astype(f64)
func.func @main(%x: tensor<67x131xf32>, %y: tensor<64x96xf32>, %a: tensor<33x48xf32>, %b: tensor<40x48xf32>) -> (tensor<131x67xf32>, tensor<96x64xf32>, tensor<33x40xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<131x67xf32>
  %t = linalg.transpose ins(%x : tensor<67x131xf32>) outs(%e : tensor<131x67xf32>) permutation = [1, 0]
  %f = tensor.empty() : tensor<96x64xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<64x96xf32>) outs(%f : tensor<96x64xf32>) {
  ^bb0(%v: f32, %unused: f32):
    %m = arith.maximumf %v, %zero : f32
    linalg.yield %m : f32
  } -> tensor<96x64xf32>
  %g = tensor.empty() : tensor<33x40xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<33x40xf32>) -> tensor<33x40xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<33x48xf32>, tensor<40x48xf32>) outs(%h : tensor<33x40xf32>) -> tensor<33x40xf32>
  return %t, %u, %p : tensor<131x67xf32>, tensor<96x64xf32>, tensor<33x40xf32>
}
