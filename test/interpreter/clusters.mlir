// Blocks of a cluster run together: a multicast copy lands in the buffers of all along its axes, an arrival reaches a
// neighbour's barrier (docs/numerics.md §6).
#row = #tile.layout<offset [128:d0]>
#v = #tile.layout<reg [4:d0*32], lane [32:d0], warp [4:_]>
!view = !tile.view<128xf32>
!buffer = !tile.buffer<128xf32, #row, shared>

// Block 0 of each pair loads for both; block 1 tells it when its buffer may be written again.
// RUN: %python -c "import numpy as np; np.save('%t.x.npy', np.arange(512, dtype='f4'))"
// RUN: %tile_run --target=interpret %s --entry=pairs --in=%t.x.npy --out=%t.y.npy
// RUN: %python -c "import numpy as np; x = np.arange(512, dtype='f4').reshape(2, 2, 128); y = np.load('%t.y.npy').reshape(4, 128); assert (y == x.sum(1).repeat(2, 0) + np.array([0, 1, 0, 1], 'f4')[:, None]).all(), y"
tile.kernel @pair(%x: memref<512xf32>, %y: memref<512xf32>) attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32} {
  %i = tile.program_id 0
  %X = tile.view %x : memref<512xf32> to !view
  %Y = tile.view %y : memref<512xf32> to !view
  %B = tile.alloc : !buffer
  %full = tile.alloc : !tile.barrier<1, arrivals = 1>
  %empty = tile.alloc : !tile.barrier<1, arrivals = 2>
  tile.warp_specialize captures(%X, %Y, %B, %full, %empty, %i
      : !view, !view, !buffer, !tile.barrier<1, arrivals = 1>, !tile.barrier<1, arrivals = 2>, index)
  partition "load" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %rank = arith.remui %i, %c2 : index
    %first = arith.subi %i, %rank : index
    %isFirst = arith.cmpi eq, %rank, %c0 : index
    scf.for %k = %c0 to %c2 step %c1 {
      %before = arith.subi %k, %c1 : index
      tile.barrier_wait %full[%before] : !tile.barrier<1, arrivals = 1>
      tile.barrier_arrive %full[%k] expect 512 : !tile.barrier<1, arrivals = 1>
      scf.if %isFirst {
        tile.barrier_wait %empty[%before] : !tile.barrier<1, arrivals = 2>
        %t = arith.addi %first, %k : index
        tile.copy_async %X[%t] to %B multicast [0] signals %full[%k] : !view to !buffer, !tile.barrier<1, arrivals = 1>
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
      tile.barrier_wait %full[%k] : !tile.barrier<1, arrivals = 1>
      %v = tile.load %B : !buffer -> tensor<128xf32, #v>
      tile.barrier_arrive %empty[%k] cluster %c0 : !tile.barrier<1, arrivals = 2>
      %n = arith.addf %s, %v : tensor<128xf32, #v>
      scf.yield %n : tensor<128xf32, #v>
    }
    %rank = arith.remui %i, %c2 : index
    %r = arith.index_cast %rank : index to i32
    %f = arith.sitofp %r : i32 to f32
    %b = tile.broadcast %f : f32 -> tensor<128xf32, #v>
    %out = arith.addf %sum, %b : tensor<128xf32, #v>
    tile.store %out, %Y[%i] : tensor<128xf32, #v>, !view
    tile.yield
  }
  tile.return
}
func.func @pairs(%x: tensor<512xf32>) -> tensor<512xf32> {
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<512xf32>
  %y = tile.launch @pair grid(%c4) cluster [2] ins(%x : tensor<512xf32>) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  return %y : tensor<512xf32>
}

// RUN: not %tile_run --target=interpret %s --entry=odd --in=%t.x.npy 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.launch' op has a grid of 3 along axis 0; expected a multiple of the cluster's 2
func.func @odd(%x: tensor<512xf32>) -> tensor<512xf32> {
  %c3 = arith.constant 3 : index
  %y = tile.launch @pair grid(%c3) cluster [2] ins(%x : tensor<512xf32>) outs(%x : tensor<512xf32>) -> tensor<512xf32>
  return %y : tensor<512xf32>
}

// A block that waits for a barrier of the cluster to which the other one does not come:
// RUN: not %tile_run --target=interpret %s --entry=alone --in=%t.x.npy 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.sync' op waits for blocks of the cluster that do not come here
tile.kernel @one(%y: memref<512xf32>) attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %isFirst = arith.cmpi eq, %i, %c0 : index
  tile.sync cluster
  scf.if %isFirst {
    tile.sync cluster
  }
  tile.return
}
func.func @alone(%x: tensor<512xf32>) -> tensor<512xf32> {
  %c2 = arith.constant 2 : index
  %y = tile.launch @one grid(%c2) cluster [2] outs(%x : tensor<512xf32>) -> tensor<512xf32>
  return %y : tensor<512xf32>
}

// A neighbour that is not there, and one whose arrival never comes:
// RUN: not %tile_run --target=interpret %s --entry=outside --in=%t.x.npy 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: clusters.mlir:[[@LINE+7]]:3: error: 'tile.barrier_arrive' op arrives at block 2 of a cluster of 2
// RUN: not %tile_run --target=interpret %s --entry=waits --in=%t.x.npy 2>&1 | FileCheck %s --check-prefix=WAITS
// WAITS: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.barrier_wait' op waits for round 0, which nobody completes: 0 of 2 arrivals
tile.kernel @third(%y: memref<512xf32>) attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b = tile.alloc : !tile.barrier<1, arrivals = 1>
  tile.barrier_arrive %b[%c0] cluster %c2 : !tile.barrier<1, arrivals = 1>
  tile.return
}
tile.kernel @wait(%y: memref<512xf32>) attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %b = tile.alloc : !tile.barrier<1, arrivals = 2>
  tile.barrier_arrive %b[%c0] cluster %c0 : !tile.barrier<1, arrivals = 2>
  tile.barrier_wait %b[%c0] : !tile.barrier<1, arrivals = 2>
  tile.return
}
func.func @outside(%x: tensor<512xf32>) -> tensor<512xf32> {
  %c2 = arith.constant 2 : index
  %y = tile.launch @third grid(%c2) cluster [2] outs(%x : tensor<512xf32>) -> tensor<512xf32>
  return %y : tensor<512xf32>
}
func.func @waits(%x: tensor<512xf32>) -> tensor<512xf32> {
  %c4 = arith.constant 4 : index
  %y = tile.launch @wait grid(%c4) cluster [2] outs(%x : tensor<512xf32>) -> tensor<512xf32>
  return %y : tensor<512xf32>
}
