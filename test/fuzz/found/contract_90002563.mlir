// Program 90002563 of the second generator, cut down: a sum of -0 was +0 on the CPU, since LLVM's sum of a vector started from +0.
// The other program of the grid reads beyond the end, where each element is -0.
// RUN: %tile_run %s --target=cpu --out=%t.npz && %python -c "import numpy, sys; assert numpy.signbit([*numpy.load(sys.argv[1]).values()][0][1])" %t.npz
tile.kernel private @sum(%x: memref<32xf32>, %y: memref<2xf32>) {
  %id = tile.program_id 0
  %v = tile.view %x : memref<32xf32> to !tile.view<32xf32, pad = neg_zero>
  %t = tile.load %v[%id] : !tile.view<32xf32, pad = neg_zero> -> tensor<32xf32>
  %s = tile.reduce {arith.addf} %t axes [0] : tensor<32xf32> -> f32
  %o = tile.broadcast %s : f32 -> tensor<1xf32>
  %w = tile.view %y : memref<2xf32> to !tile.view<1xf32>
  tile.store %o, %w[%id] : tensor<1xf32>, !tile.view<1xf32>
  tile.return
}
func.func @main(%x: tensor<32xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %n = arith.constant 2 : index
  %r = tile.launch @sum grid(%n) ins(%x : tensor<32xf32>) outs(%y : tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
