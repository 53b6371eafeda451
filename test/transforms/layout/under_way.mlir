// Sums of a product under way keep their fragment until the tile.mma_wait, also if the store behind it likes another layout
// better: a conversion before the wait would read sums that are not there yet.
// RUN: %tile_opt %s --pass-pipeline="builtin.module(tile.kernel(tile-specialize-warps{chip=sm_90a},tile-assign-layouts{chip=sm_90a}))" | FileCheck %s --check-prefix=WAIT
// RUN: %tile_run %s --target=emulate:sm_90a --check-against=interpret | FileCheck %s
// CHECK: result 0: right
// WAIT: tile.mma_async
// WAIT-NOT: tile.convert_layout
// WAIT: tile.mma_wait {{.*}} pending 0
// WAIT: tile.convert_layout
tile.kernel @along(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c: memref<?x?xf32>) attributes {warps = 4 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x32xf16>
  %B = tile.view %b : memref<?x?xf16> to !tile.view<32x32xf16, order = [1, 0]>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<128x32xf32>
  %steps = tile.num_tiles %A dim 1 : !tile.view<128x32xf16>
  %r = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %zero) -> (tensor<128x32xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<128x32xf16> -> tensor<128x32xf16>
    %y = tile.load %B[%k, %j] : !tile.view<32x32xf16, order = [1, 0]> -> tensor<32x32xf16>
    %m = tile.mma %x, %y, %s : tensor<128x32xf16>, tensor<32x32xf16> -> tensor<128x32xf32>
    scf.yield %m : tensor<128x32xf32>
  }
  tile.store %r, %C[%i, %j] : tensor<128x32xf32>, !tile.view<128x32xf32>
  tile.return
}
func.func @main(%a: tensor<133x104xf16>, %b: tensor<72x104xf16>) -> tensor<133x72xf32> {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %e = tensor.empty() : tensor<133x72xf32>
  %0 = tile.launch @along grid(%two, %three) ins(%a, %b : tensor<133x104xf16>, tensor<72x104xf16>) outs(%e : tensor<133x72xf32>) -> tensor<133x72xf32>
  return %0 : tensor<133x72xf32>
}

