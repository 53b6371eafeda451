// RUN: tile-opt %s --tile-expand-math=tiles=cuda_tile | FileCheck %s --check-prefixes=CHECK,CUDA
// RUN: tile-opt %s --tile-expand-math=tiles=tt | FileCheck %s --check-prefixes=CHECK,TT
// RUN: tile-opt %s --tile-expand-math | FileCheck %s --check-prefix=NONE
// RUN: not tile-opt %s --tile-expand-math=tiles=ptx 2>&1 | FileCheck %s --check-prefix=BAD

// CUDA Tile IR has no erf, Triton no tanh on every target; neither has expm1. Both keep exp and maxima.
// CHECK-LABEL: tile.kernel @functions
// CUDA-NOT: math.erf
// CUDA: arith.extf %{{.*}} : tensor<16xf32> to tensor<16xf64>
// CUDA: math.tanh
// TT: math.erf
// TT-NOT: math.tanh
// CHECK-NOT: math.expm1
// CHECK: math.exp %{{.*}} : tensor<16xf32>
// CHECK-NOT: math.trunc
// CHECK: math.floor %{{.*}} : tensor<16xf32>
// CHECK: arith.maximumf
// NONE-LABEL: tile.kernel @functions
// NONE: math.erf
// NONE: math.tanh
// NONE: math.expm1
// NONE: math.trunc
// BAD: error: {{.*}}tile-expand-math: tiles is "ptx", expected cuda_tile or tt
tile.kernel @functions(%x: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<16xf32> to !tile.view<16xf32>
  %v = tile.load %X[%c0] : !tile.view<16xf32> -> tensor<16xf32>
  %a = math.erf %v : tensor<16xf32>
  %b = math.tanh %a : tensor<16xf32>
  %c = math.expm1 %b : tensor<16xf32>
  %d = math.exp %c : tensor<16xf32>
  %t = math.trunc %d : tensor<16xf32>
  %e = arith.maximumf %t, %v : tensor<16xf32>
  tile.store %e, %X[%c0] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}
