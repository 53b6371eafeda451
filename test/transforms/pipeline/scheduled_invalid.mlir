// What tile-plan-shared-memory and tile-insert-barriers refuse, and what a conversion says of attributes that were
// edited.
// RUN: split-file %s %t
// RUN: not %tile_opt %t/machine.mlir --pass-pipeline='builtin.module(tile.kernel(tile-plan-shared-memory))' 2>&1 | FileCheck %t/machine.mlir
// RUN: not %tile_opt %t/machine.mlir --pass-pipeline='builtin.module(tile.kernel(tile-plan-shared-memory{chip=sm_1}))' 2>&1 | FileCheck %t/machine.mlir --check-prefix=CHIP
// RUN: not %tile_opt %t/machine.mlir --pass-pipeline='builtin.module(tile.kernel(tile-plan-shared-memory{chip=x86-64-v4}))' 2>&1 | FileCheck %t/machine.mlir --check-prefix=CPU
// RUN: not %tile_opt %t/call.mlir --pass-pipeline='builtin.module(tile.kernel(tile-plan-shared-memory{chip=sm_80}))' 2>&1 | FileCheck %t/call.mlir
// RUN: not %tile_opt %t/offset.mlir --pass-pipeline='builtin.module(tile.kernel(tile-insert-barriers))' 2>&1 | FileCheck %t/offset.mlir
// RUN: not %tile_opt %t/exchange.mlir --split-input-file --convert-tile-to-nvvm=chip=sm_80 2>&1 | FileCheck %t/exchange.mlir
// RUN: not %tile_opt %t/ordered.mlir --convert-tile-to-nvvm=chip=sm_80 2>&1 | FileCheck %t/ordered.mlir

//--- machine.mlir
// CHECK: 'tile.kernel' op has no machine; the kernel, the module or the option chip must name one
// CHIP: 'tile.kernel' op {{.*}}sm_1
// CPU: 'tile.kernel' op machine x86-64-v4 has no warp.width; shared memory is planned for GPUs only
tile.kernel @k() {
  tile.return
}

//--- call.mlir
tile.func private @f() {
  tile.return
}
tile.kernel @k() {
  // CHECK: call.mlir:[[@LINE+1]]:3: error: 'tile.call' op is a call in a scheduled kernel; calls must be inlined first (tile-assign-layouts does)
  tile.call @f() : () -> ()
  tile.return
}

//--- offset.mlir
#dense = #tile.layout<offset [32:d0]>
tile.kernel @k() {
  // CHECK: offset.mlir:[[@LINE+1]]:8: error: 'tile.alloc' op has no offset; run tile-plan-shared-memory first
  %A = tile.alloc : !tile.buffer<32xf32, #dense, shared>
  tile.return
}

//--- exchange.mlir
#rows = #tile.layout<reg [8:d0*4], lane [32:d1], warp [4:d0]>
#columns = #tile.layout<reg [8:d1*4], lane [32:d0], warp [4:d1]>
tile.kernel @k(%x: memref<32x32xf32>) attributes {ordered, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<32x32xf32> to !tile.view<32x32xf32>
  %a = tile.load %X[%c0, %c0] : !tile.view<32x32xf32> -> tensor<32x32xf32, #rows>
  // CHECK: exchange.mlir:[[@LINE+1]]:8: error: 'tile.convert_layout' op moves elements between threads, which tile-exchange-in-shared-memory writes as stores and loads; run this pass before tile-insert-barriers
  %b = tile.convert_layout %a : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
  tile.store %b, %X[%c0, %c0] : tensor<32x32xf32, #columns>, !tile.view<32x32xf32>
  tile.return
}
// -----
#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
#m = #tile.layout<reg [2:d0*64], lane [32:d0], warp [2:d0*32]>
tile.kernel @k(%x: memref<128xf32>, %i: memref<128xi32>) attributes {ordered, warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  %I = tile.view %i : memref<128xi32> to !tile.view<128xi32>
  %n = tile.load %I[%c0] : !tile.view<128xi32> -> tensor<128xi32, #m>
  // CHECK: exchange.mlir:[[@LINE+1]]:8: error: 'tile.gather' op moves elements between threads
  %g = tile.gather %x[%n] bounds(drop) : memref<128xf32>[tensor<128xi32, #m>] -> tensor<128xf32, #l>
  tile.store %g, %X[%c0] : tensor<128xf32, #l>, !tile.view<128xf32>
  tile.return
}
// -----
#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
tile.kernel @k(%x: memref<128xi32>) attributes {ordered, warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128xi32> to !tile.view<128xi32>
  %a = tile.load %X[%c0] : !tile.view<128xi32> -> tensor<128xi32, #l>
  // CHECK: exchange.mlir:[[@LINE+1]]:8: error: 'tile.histogram' op moves elements between threads
  %h = tile.histogram %a : tensor<128xi32, #l> -> tensor<128xi32, #l>
  tile.store %h, %X[%c0] : tensor<128xi32, #l>, !tile.view<128xi32>
  tile.return
}

//--- ordered.mlir
#dense = #tile.layout<offset [32:d0]>
tile.kernel @k() attributes {ordered, warps = 1 : i32} {
  // CHECK: ordered.mlir:[[@LINE+1]]:8: error: 'tile.alloc' op has no offset; run tile-plan-shared-memory first
  %A = tile.alloc : !tile.buffer<32xf32, #dense, shared>
  tile.return
}
