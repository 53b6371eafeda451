// In a kernel the op needs no pass of ours ahead of a pipeline: its row says how it is written out. On a CPU and on a GPU.
// RUN: %tile_opt %s --tile-to-cpu-pipeline | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-to-nvvm-pipeline{chip=sm_80})' | FileCheck %s --check-prefix=GPU
// CHECK-NOT: poly.horner
// CHECK: llvm.fmul {{.*}} : vector<16xf32>
// GPU-NOT: poly.horner
// GPU: llvm.fmul {{.*}} : f32

tile.kernel @polynomial(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<64xf32> to !tile.view<64xf32>
  %Y = tile.view %y : memref<64xf32> to !tile.view<64xf32>
  %a = tile.load %X[%c0] : !tile.view<64xf32> -> tensor<64xf32>
  %p = poly.horner %a by [1.0, 2.0, 0.5] : tensor<64xf32>
  tile.store %p, %Y[%c0] : tensor<64xf32>, !tile.view<64xf32>
  tile.return
}
