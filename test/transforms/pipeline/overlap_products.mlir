// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-overlap-products))' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-overlap-products))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT
// COUNT: tile-overlap-products: 1 overlapped

#a = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
#b = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>

// The scores of round k start before the sums of round k - 1. The wait for the scores leaves the sums under way.
// CHECK-LABEL: tile.kernel @two
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %{{.*}}, %[[N:.*]] : index
// CHECK: scf.if %[[ANY]]
// CHECK: tile.mma_async
// CHECK: tile.mma_wait %{{.*}} pending 0
// CHECK: arith.truncf
// CHECK: scf.for %[[K:.*]] = %c1{{.*}} to %[[N]] step %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[W:.*]] = %{{.*}})
// CHECK: %[[S:.*]] = tile.mma_async
// CHECK: %[[P:.*]] = arith.subi %[[K]]
// CHECK: tile.barrier_wait %{{.*}}[%[[P]]]
// CHECK: %[[O:.*]] = tile.mma_async %[[W]], %{{.*}}, %[[ACC]]
// CHECK: %[[DONE:.*]] = tile.mma_wait %[[S]] pending 1
// CHECK: tile.barrier_arrive %{{.*}}[%[[K]]]
// CHECK: arith.addf %[[DONE]]
// CHECK: tile.mma_wait %[[O]] pending 0
// CHECK: tile.barrier_arrive %{{.*}}[%[[P]]]
// CHECK: arith.truncf
// CHECK: scf.yield
// CHECK: tile.mma_async
// CHECK: tile.mma_wait %{{.*}} pending 0
// CHECK: else
// CHECK-NEXT: scf.yield
tile.kernel @two(%n: index, %y: memref<64x64xf32>) attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %one = arith.constant dense<1.0> : tensor<64x64xf32>
  %q = tile.alloc : !tile.buffer<64x64xf16, #a, shared>
  %k = tile.alloc : !tile.buffer<64x64xf16, #b, shared, stages = 2>
  %v = tile.alloc : !tile.buffer<64x64xf16, #b, shared, stages = 2>
  %kf = tile.alloc : !tile.barrier<2>
  %ke = tile.alloc : !tile.barrier<2>
  %vf = tile.alloc : !tile.barrier<2>
  %ve = tile.alloc : !tile.barrier<2>
  %Y = tile.view %y : memref<64x64xf32> to !tile.view<64x64xf32>
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%o = %zero, %l = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %ks = tile.slot %k[%j] : !tile.buffer<64x64xf16, #b, shared, stages = 2>
    tile.barrier_wait %kf[%j] : !tile.barrier<2>
    %s = tile.mma_async %q, %ks, %zero atom "wgmma.m64n64k16" : !tile.buffer<64x64xf16, #a, shared>, !tile.buffer<64x64xf16, #b, shared> -> tensor<64x64xf32>
    %sd = tile.mma_wait %s pending 0 : tensor<64x64xf32>
    tile.barrier_arrive %ke[%j] : !tile.barrier<2>
    %p = arith.addf %sd, %one : tensor<64x64xf32>
    %l1 = arith.addf %l, %p : tensor<64x64xf32>
    %w = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %os = arith.mulf %o, %one : tensor<64x64xf32>
    %vs = tile.slot %v[%j] : !tile.buffer<64x64xf16, #b, shared, stages = 2>
    tile.barrier_wait %vf[%j] : !tile.barrier<2>
    %t = tile.mma_async %w, %vs, %os atom "wgmma.m64n64k16" : tensor<64x64xf16>, !tile.buffer<64x64xf16, #b, shared> -> tensor<64x64xf32>
    %td = tile.mma_wait %t pending 0 : tensor<64x64xf32>
    tile.barrier_arrive %ve[%j] : !tile.barrier<2>
    scf.yield %td, %l1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  tile.store %r#0, %Y[%c0, %c0] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}

// The scores need the sums of the round before: nothing changes.
// CHECK-LABEL: tile.kernel @dependent
// CHECK-NOT: scf.if
// CHECK: tile.return
tile.kernel @dependent(%n: index, %y: memref<64x64xf32>) attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %q = tile.alloc : !tile.buffer<64x64xf16, #a, shared>
  %v = tile.alloc : !tile.buffer<64x64xf16, #b, shared>
  %Y = tile.view %y : memref<64x64xf32> to !tile.view<64x64xf32>
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%o = %zero) -> (tensor<64x64xf32>) {
    %s = tile.mma_async %q, %v, %zero atom "wgmma.m64n64k16" : !tile.buffer<64x64xf16, #a, shared>, !tile.buffer<64x64xf16, #b, shared> -> tensor<64x64xf32>
    %sd = tile.mma_wait %s pending 0 : tensor<64x64xf32>
    %p = arith.addf %sd, %o : tensor<64x64xf32>
    %w = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %t = tile.mma_async %w, %v, %o atom "wgmma.m64n64k16" : tensor<64x64xf16>, !tile.buffer<64x64xf16, #b, shared> -> tensor<64x64xf32>
    %td = tile.mma_wait %t pending 0 : tensor<64x64xf32>
    scf.yield %td : tensor<64x64xf32>
  }
  tile.store %r, %Y[%c0, %c0] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}
