// RUN: %python %source/test/run/check.py %tile_run %s
// Padding and joining tensors is host work: fills and copies, no linalg left over.
// in: normal(5, 7)
// expect: np.pad(x0, ((1, 2), (3, 0)))
// expect: np.concatenate([x0, x0], 1)
func.func @main(%x: tensor<5x7xf32>) -> (tensor<8x10xf32>, tensor<5x14xf32>) {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 3] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<5x7xf32> to tensor<8x10xf32>
  %c = tensor.concat dim(1) %x, %x : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x14xf32>
  return %p, %c : tensor<8x10xf32>, tensor<5x14xf32>
}
