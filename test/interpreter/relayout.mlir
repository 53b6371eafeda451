// linalg.pack and linalg.unpack: tiles, a permutation of the outer dimensions, padding at the edge.
// RUN: %python %source/test/run/check.py %tile_run %s --target=interpret
// in: normal(5, 8)
// expect: np.pad(x0, ((0, 1), (0, 0)), constant_values=7).reshape(3, 2, 2, 4).transpose(2, 0, 3, 1)
// expect: x0
// tolerance: 0
func.func @main(%x: tensor<5x8xf32>) -> (tensor<2x3x4x2xf32>, tensor<5x8xf32>) {
  %seven = arith.constant 7.0 : f32
  %e = tensor.empty() : tensor<2x3x4x2xf32>
  %p = linalg.pack %x padding_value(%seven : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 2]
       into %e : tensor<5x8xf32> -> tensor<2x3x4x2xf32>
  %f = tensor.empty() : tensor<5x8xf32>
  %u = linalg.unpack %p outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 2]
       into %f : tensor<2x3x4x2xf32> -> tensor<5x8xf32>
  return %p, %u : tensor<2x3x4x2xf32>, tensor<5x8xf32>
}
