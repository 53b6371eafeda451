// Program 108 of the second generator, cut down: strides of memory without elements are zero, and compiling for a GPU divided
// by them.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s | FileCheck %s
// CHECK-COUNT-3: right
// in: normal f32 16x2x0 1
// in: normal f32 16x2x1 2
tile.kernel private @kernel(%x: memref<16x2x0xf32>, %y: memref<16x2x1xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<16x2x0xf32> to !tile.view<16x2x1xf32, pad = nan>
  %Y = tile.view %y : memref<16x2x1xf32> to !tile.view<16x2x1xf32>
  %v = tile.load %X[%c0, %c0, %c0] : !tile.view<16x2x1xf32, pad = nan> -> tensor<16x2x1xf32>
  tile.store %v, %Y[%c0, %c0, %c0] : tensor<16x2x1xf32>, !tile.view<16x2x1xf32>
  tile.return
}
func.func @main(%x: tensor<16x2x0xf32>, %y: tensor<16x2x1xf32>) -> tensor<16x2x1xf32> {
  %c1 = arith.constant 1 : index
  %r = tile.launch @kernel grid(%c1) ins(%x : tensor<16x2x0xf32>) outs(%y : tensor<16x2x1xf32>) -> tensor<16x2x1xf32>
  return %r : tensor<16x2x1xf32>
}
