// Threads read what a program of the cluster copies to both: their arrivals at its barrier order memory by scope cluster,
// and so does its wait. The emulator finds no race, and finds one with scope cta.
// RUN: %tile_opt %s --tile-to-nvvm-pipeline='chip=sm_90a' | FileCheck %s
// CHECK: nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK: nvvm.mbarrier.try_wait %{{.*}} {scope = #nvvm.mem_scope<cluster>}
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask = %
// CHECK: nvvm.mapa
// CHECK: nvvm.mbarrier.arrive %{{.*}} {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
// RUN: %python -c "import numpy as np; np.save('%t.x.npy', np.arange(512, dtype='f4'))"
// RUN: %tile_run --target=emulate:sm_90a %s --check-against=interpret --in=%t.x.npy | FileCheck %s --check-prefix=RIGHT
// RUN: sed 's/cluster %c0 : /cluster %c0 reads : /' %s > %t.narrow.mlir
// RUN: not %tile_run --target=emulate:sm_90a %t.narrow.mlir --in=%t.x.npy 2>&1 | FileCheck %s --check-prefix=NARROW
// RIGHT: result 0: right
// NARROW: error: race: read by thread {{[0-9]+}} and write by
#row = #tile.layout<offset [128:d0]>
#v = #tile.layout<reg [4:d0*32], lane [32:d0], warp [4:_]>
!view = !tile.view<128xf32>
!buffer = !tile.buffer<128xf32, #row, shared>
!full = !tile.barrier<1>
!empty = !tile.barrier<1, arrivals = 2>
tile.kernel @pair(%x_: memref<512xf32>, %y: memref<512xf32>) attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32} {
  %x = tile.assume %x_ align 16 : memref<512xf32>
  %i = tile.program_id 0
  %X = tile.view %x : memref<512xf32> to !view
  %Y = tile.view %y : memref<512xf32> to !view
  %B = tile.alloc : !buffer
  %full = tile.alloc : !full
  %empty = tile.alloc : !empty
  tile.warp_specialize captures(%X, %Y, %B, %full, %empty, %i : !view, !view, !buffer, !full, !empty, index)
  partition "load" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = arith.remui %i, %c2 : index
    %first = arith.subi %i, %rank : index
    %isFirst = arith.cmpi eq, %rank, %c0 : index
    scf.for %k = %c0 to %c2 step %c1 {
      %before = arith.subi %k, %c1 : index
      tile.barrier_wait %full[%before] : !full
      tile.barrier_arrive %full[%k] expect 512 : !full
      scf.if %isFirst {
        tile.barrier_wait %empty[%before] : !empty
        %t = arith.addi %first, %k : index
        tile.copy_async %X[%t] to %B engine "tma" multicast [0] signals %full[%k] : !view to !buffer, !full
      }
    }
    tile.yield
  }
  partition "add" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant dense<0.0> : tensor<128xf32, #v>
    %sum = scf.for %k = %c0 to %c2 step %c1 iter_args(%s = %zero) -> (tensor<128xf32, #v>) {
      tile.barrier_wait %full[%k] : !full
      %v = tile.load %B : !buffer -> tensor<128xf32, #v>
      tile.barrier_arrive %empty[%k] cluster %c0 : !empty
      %n = arith.addf %s, %v : tensor<128xf32, #v>
      scf.yield %n : tensor<128xf32, #v>
    }
    tile.store %sum, %Y[%i] : tensor<128xf32, #v>, !view
    tile.yield
  }
  tile.return
}
func.func @main(%x: tensor<512xf32>) -> tensor<512xf32> {
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<512xf32>
  %y = tile.launch @pair grid(%c4) cluster [2] ins(%x : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  return %y : tensor<512xf32>
}
