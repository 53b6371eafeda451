// tensor.cast folds into a launch (upstream does so to every op in destination style): the arguments may say more of
// their sizes than the parameters do, and are cast when they are memory.
// RUN: %tile_opt %s --canonicalize | FileCheck %s
// RUN: %tile_run %s --check-against=interpret
// RUN: %tile_run %s --target=emulate:sm_80 --check-against=interpret
// CHECK: tile.launch @add grid(%{{.*}}) ins(%{{.*}} : tensor<3xf32>) outs(%{{.*}} : tensor<3xf32>) -> tensor<3xf32>
// CHECK-NOT: tensor.cast
tile.kernel private @add(%x: memref<?xf32>, %o: memref<?xf32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<4xf32>
  %O = tile.view %o : memref<?xf32> to !tile.view<4xf32>
  %a = tile.load %X[%i] : !tile.view<4xf32> -> tensor<4xf32>
  %b = arith.addf %a, %a : tensor<4xf32>
  tile.store %b, %O[%i] : tensor<4xf32>, !tile.view<4xf32>
  tile.return
}
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<3xf32>
  %xd = tensor.cast %x : tensor<3xf32> to tensor<?xf32>
  %ed = tensor.cast %e : tensor<3xf32> to tensor<?xf32>
  %r = tile.launch @add grid(%c1) ins(%xd : tensor<?xf32>) outs(%ed : tensor<?xf32>) -> tensor<?xf32>
  %s = tensor.cast %r : tensor<?xf32> to tensor<3xf32>
  return %s : tensor<3xf32>
}
