// Two kernels without bodies are two kernels: nothing says that they do the same.
// RUN: %tile_opt %s --tile-share-kernels | FileCheck %s
// CHECK: tile.kernel private @a
// CHECK: tile.kernel private @b
// CHECK: tile.launch @a
// CHECK: tile.launch @b
tile.kernel private @a(memref<?xf32>)
tile.kernel private @b(memref<?xf32>)
func.func @main(%x: memref<?xf32>) {
  %one = arith.constant 1 : index
  tile.launch @a grid(%one) outs(%x : memref<?xf32>)
  tile.launch @b grid(%one) outs(%x : memref<?xf32>)
  return
}
