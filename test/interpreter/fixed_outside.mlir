// A view that fixes a dimension outside of its memref may be made, not reached (docs/numerics.md §5).
// RUN: not %tile_run %s --target=interpret 2>&1 | FileCheck %s
// CHECK: fixed_outside.mlir:[[@LINE+6]]:8: error: 'tile.load' op is out of bounds: the view fixes a dimension outside of the memref
tile.kernel @k(%x: memref<3x4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %X = tile.view %x[%c3, _] : memref<3x4xf32> to !tile.view<4xf32>
  %Y = tile.view %y : memref<4xf32> to !tile.view<4xf32>
  %v = tile.load %X[%c0] : !tile.view<4xf32> -> tensor<4xf32>
  tile.store %v, %Y[%c0] : tensor<4xf32>, !tile.view<4xf32>
  tile.return
}
func.func @main(%x: memref<3x4xf32>, %y: memref<4xf32>) {
  %n = arith.constant 1 : index
  tile.launch @k grid(%n) ins(%x : memref<3x4xf32>) outs(%y : memref<4xf32>)
  return
}
