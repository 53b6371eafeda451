// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-plan-shared-memory{chip=sm_80}))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-plan-shared-memory{chip=sm_80},tile-plan-shared-memory{chip=sm_80}))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-plan-shared-memory{chip=sm_80}))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT

// COUNT-DAG: 11 buffers

#rows = #tile.layout<reg [8:d0*4], lane [32:d1], warp [4:d0]>
#dense = #tile.layout<offset [32:d1, 32:d0]>
#large = #tile.layout<offset [64:d1, 32:d0]>

// One after the other, and large: both lie at the beginning.
// CHECK-LABEL: tile.kernel @in_turn
// CHECK: %[[A:.*]] = tile.alloc at 0 :
// CHECK: %[[B:.*]] = tile.alloc at 0 :
tile.kernel @in_turn(%x: memref<32x32xf64>, %y: memref<32x32xf64>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %A = tile.alloc : !tile.buffer<32x32xf64, #dense, shared>
  %B = tile.alloc : !tile.buffer<32x32xf64, #dense, shared>
  %X = tile.view %x : memref<32x32xf64> to !tile.view<32x32xf64>
  %Y = tile.view %y : memref<32x32xf64> to !tile.view<32x32xf64>
  %a = tile.load %X[%c0, %c0] : !tile.view<32x32xf64> -> tensor<32x32xf64, #rows>
  tile.store %a, %A : tensor<32x32xf64, #rows>, !tile.buffer<32x32xf64, #dense, shared>
  tile.sync
  %b = tile.load %A : !tile.buffer<32x32xf64, #dense, shared> -> tensor<32x32xf64, #rows>
  tile.store %b, %B : tensor<32x32xf64, #rows>, !tile.buffer<32x32xf64, #dense, shared>
  tile.sync
  %c = tile.load %B : !tile.buffer<32x32xf64, #dense, shared> -> tensor<32x32xf64, #rows>
  %d = tile.reduce {arith.addf} %c axes [0, 1] : tensor<32x32xf64, #rows> -> f64
  memref.store %d, %y[%c0, %c0] : memref<32x32xf64>
  tile.return
}

// -----

#rows = #tile.layout<reg [8:d0*4], lane [32:d1], warp [4:d0]>
#dense = #tile.layout<offset [32:d1, 32:d0]>
#large = #tile.layout<offset [64:d1, 32:d0]>

// One after the other, but small: with 4 warps on a core of sm_80 each of 16 blocks has 10,496 bytes, so they lie apart and
// need no barrier when one follows the other.
// CHECK-LABEL: tile.kernel @apart
// CHECK: %[[A:.*]] = tile.alloc at 0 :
// CHECK: %[[B:.*]] = tile.alloc at 4096 :
tile.kernel @apart(%x: memref<32x32xf32>, %y: memref<32x32xf32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %A = tile.alloc : !tile.buffer<32x32xf32, #dense, shared>
  %B = tile.alloc : !tile.buffer<32x32xf32, #dense, shared>
  %X = tile.view %x : memref<32x32xf32> to !tile.view<32x32xf32>
  %Y = tile.view %y : memref<32x32xf32> to !tile.view<32x32xf32>
  %a = tile.load %X[%c0, %c0] : !tile.view<32x32xf32> -> tensor<32x32xf32, #rows>
  tile.store %a, %A : tensor<32x32xf32, #rows>, !tile.buffer<32x32xf32, #dense, shared>
  tile.sync
  %b = tile.load %A : !tile.buffer<32x32xf32, #dense, shared> -> tensor<32x32xf32, #rows>
  tile.store %b, %B : tensor<32x32xf32, #rows>, !tile.buffer<32x32xf32, #dense, shared>
  tile.sync
  %c = tile.load %B : !tile.buffer<32x32xf32, #dense, shared> -> tensor<32x32xf32, #rows>
  %d = tile.reduce {arith.addf} %c axes [0, 1] : tensor<32x32xf32, #rows> -> f32
  memref.store %d, %y[%c0, %c0] : memref<32x32xf32>
  tile.return
}

// -----

#rows = #tile.layout<reg [8:d0*4], lane [32:d1], warp [4:d0]>
#dense = #tile.layout<offset [32:d1, 32:d0]>
#large = #tile.layout<offset [64:d1, 32:d0]>
// A buffer that a loop uses lives through the loop, so it lies beside the other; the largest is placed first. What is
// placed already stays. Tensor memory has offsets of its own, and its address a place of its own in shared memory.
// CHECK-LABEL: tile.kernel @together
// CHECK: tile.alloc at 8192 :
// CHECK-NEXT: tile.alloc at 0 :
// CHECK-NEXT: tile.alloc at 16384 :
// CHECK-NEXT: tile.alloc at 0 address 12288 :
tile.kernel @together(%x: memref<32x32xf32>, %y: memref<32x32xf32>, %w: memref<32x64xf32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %A = tile.alloc : !tile.buffer<32x32xf32, #dense, shared>
  %B = tile.alloc : !tile.buffer<32x64xf32, #large, shared>
  %C = tile.alloc at 16384 : !tile.buffer<32x32xf32, #dense, shared>
  %T = tile.alloc : !tile.buffer<32x32xf32, #dense, tmem>
  %X = tile.view %x : memref<32x32xf32> to !tile.view<32x32xf32>
  %Y = tile.view %y : memref<32x32xf32> to !tile.view<32x32xf32>
  %W = tile.view %w : memref<32x64xf32> to !tile.view<32x64xf32>
  tile.copy %X[%c0, %c0] to %A : !tile.view<32x32xf32> to !tile.buffer<32x32xf32, #dense, shared>
  tile.copy %X[%c0, %c0] to %C : !tile.view<32x32xf32> to !tile.buffer<32x32xf32, #dense, shared>
  scf.for %k = %c0 to %c4 step %c1 {
    %a = tile.load %A : !tile.buffer<32x32xf32, #dense, shared> -> tensor<32x32xf32, #rows>
    %d = tile.reduce {arith.addf} %a axes [0, 1] : tensor<32x32xf32, #rows> -> f32
    memref.store %d, %y[%c0, %c0] : memref<32x32xf32>
    tile.copy %W[%c0, %c0] to %B : !tile.view<32x64xf32> to !tile.buffer<32x64xf32, #large, shared>
  }
  tile.return
}

// -----

#dense = #tile.layout<offset [32:d0]>
// Partitions of warps run at the same time: their buffers lie apart.
// CHECK-LABEL: tile.kernel @partitions
// CHECK: tile.alloc at [[A:[0-9]+]] :
// CHECK-NOT: tile.alloc at [[A]] :
// CHECK: tile.alloc at
tile.kernel @partitions(%x: memref<32xf32>) attributes {warps = 2 : i32} {
  %A = tile.alloc : !tile.buffer<32xf32, #dense, shared>
  %B = tile.alloc : !tile.buffer<32xf32, #dense, shared>
  tile.warp_specialize captures(%x, %A, %B : memref<32xf32>, !tile.buffer<32xf32, #dense, shared>, !tile.buffer<32xf32, #dense, shared>)
  partition "a" warps(1) {
    %c0 = arith.constant 0 : index
    %X = tile.view %x : memref<32xf32> to !tile.view<32xf32>
    tile.copy %X[%c0] to %A : !tile.view<32xf32> to !tile.buffer<32xf32, #dense, shared>
    tile.yield
  }
  partition "b" warps(1) {
    %c0 = arith.constant 0 : index
    %X = tile.view %x : memref<32xf32> to !tile.view<32xf32>
    tile.copy %X[%c0] to %B : !tile.view<32xf32> to !tile.buffer<32xf32, #dense, shared>
    tile.yield
  }
  tile.return
}

// -----

#l = #tile.layout<lane [32:d0]>
// So do those that partitions make for themselves, though their uses stand in different places.
// CHECK-LABEL: tile.kernel @made_by_partitions
// CHECK: tile.alloc at [[A:[0-9]+]] :
// CHECK-NOT: tile.alloc at [[A]] :
// CHECK: tile.alloc at
tile.kernel @made_by_partitions(%x: memref<32xf32>, %y: memref<32xf32>) attributes {warps = 2 : i32} {
  tile.warp_specialize captures(%x, %y : memref<32xf32>, memref<32xf32>)
  partition "a" warps(1) {
    %c0 = arith.constant 0 : index
    %A = tile.alloc : memref<1xf32>
    %a = memref.load %x[%c0] : memref<32xf32>
    memref.store %a, %A[%c0] : memref<1xf32>
    tile.yield
  }
  partition "b" warps(1) {
    %c0 = arith.constant 0 : index
    %B = tile.alloc : memref<1xf32>
    %b = memref.load %y[%c0] : memref<32xf32>
    memref.store %b, %B[%c0] : memref<1xf32>
    tile.yield
  }
  tile.return
}

// -----

#l = #tile.layout<reg [2:d0], lane [32:d0*2]>
// Nothing is in shared memory: nothing changes.
// CHECK-LABEL: tile.kernel @nothing
// CHECK-NOT: {{ at [0-9]}}
// CHECK: tile.return
tile.kernel @nothing(%x: memref<64xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<64xf32> to !tile.view<64xf32>
  %a = tile.load %X[%c0] : !tile.view<64xf32> -> tensor<64xf32, #l>
  tile.store %a, %X[%c0] : tensor<64xf32, #l>, !tile.view<64xf32>
  tile.return
}
