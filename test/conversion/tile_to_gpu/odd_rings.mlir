// Rings whose number of stages is no power of two: use k is stage k mod stages, up to the last use below 2^31.
// RUN: %tile_run %s --target=emulate:sm_80 --check-against=interpret
// RUN: %tile_run %s --target=emulate:gfx942 --check-against=interpret
// The quotient is a product of 64 bits and a shift, which a uniform data path has.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts{chip=sm_80}),convert-tile-to-nvvm{chip=sm_80})' | FileCheck %s
// CHECK-LABEL: llvm.func @ring3
// CHECK: arith.muli %{{.*}}, %c2863311531_i64
// CHECK-NOT: arith.remui
// CHECK-LABEL: llvm.func @ring7
// CHECK: arith.muli %{{.*}}, %c2454267027_i64
// CHECK-NOT: arith.remui
#row = #tile.layout<offset [32:d1]>
!slot = !tile.buffer<1x32xf32, #row, local>
module {
  func.func @main(%x: tensor<24x32xf32>) -> (tensor<24x32xf32>, tensor<24x32xf32>, tensor<24x32xf32>, tensor<24x32xf32>) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<24x32xf32>
    %y3 = tile.launch @ring3 grid(%c1) ins(%x : tensor<24x32xf32>) outs(%e : tensor<24x32xf32>) -> tensor<24x32xf32>
    %y5 = tile.launch @ring5 grid(%c1) ins(%x : tensor<24x32xf32>) outs(%e : tensor<24x32xf32>) -> tensor<24x32xf32>
    %y6 = tile.launch @ring6 grid(%c1) ins(%x : tensor<24x32xf32>) outs(%e : tensor<24x32xf32>) -> tensor<24x32xf32>
    %y7 = tile.launch @ring7 grid(%c1) ins(%x : tensor<24x32xf32>) outs(%e : tensor<24x32xf32>) -> tensor<24x32xf32>
    return %y3, %y5, %y6, %y7 : tensor<24x32xf32>, tensor<24x32xf32>, tensor<24x32xf32>, tensor<24x32xf32>
  }
  tile.kernel private @ring3(%x: memref<24x32xf32>, %y: memref<24x32xf32>) attributes {warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c24 = arith.constant 24 : index
    %base = arith.constant 2147483610 : index
    %zero = arith.constant dense<0.0> : tensor<1x32xf32>
    %R = tile.alloc : !tile.buffer<1x32xf32, #row, local, stages = 3>
    %X = tile.view %x : memref<24x32xf32> to !tile.view<1x32xf32>
    %Y = tile.view %y : memref<24x32xf32> to !tile.view<1x32xf32>
    scf.for %k = %c0 to %c3 step %c1 {
      %s = tile.slot %R[%k] : !tile.buffer<1x32xf32, #row, local, stages = 3>
      tile.store %zero, %s : tensor<1x32xf32>, !slot
    }
    scf.for %k = %c0 to %c24 step %c1 {
      %u = arith.addi %k, %base : index
      %s = tile.slot %R[%u] : !tile.buffer<1x32xf32, #row, local, stages = 3>
      %new = tile.load %X[%k, %c0] : !tile.view<1x32xf32> -> tensor<1x32xf32>
      %old = tile.load %s : !slot -> tensor<1x32xf32>
      %sum = arith.addf %new, %old : tensor<1x32xf32>
      tile.store %sum, %s : tensor<1x32xf32>, !slot
      tile.store %sum, %Y[%k, %c0] : tensor<1x32xf32>, !tile.view<1x32xf32>
    }
    tile.return
  }
  tile.kernel private @ring5(%x: memref<24x32xf32>, %y: memref<24x32xf32>) attributes {warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c24 = arith.constant 24 : index
    %base = arith.constant 2147483610 : index
    %zero = arith.constant dense<0.0> : tensor<1x32xf32>
    %R = tile.alloc : !tile.buffer<1x32xf32, #row, local, stages = 5>
    %X = tile.view %x : memref<24x32xf32> to !tile.view<1x32xf32>
    %Y = tile.view %y : memref<24x32xf32> to !tile.view<1x32xf32>
    scf.for %k = %c0 to %c5 step %c1 {
      %s = tile.slot %R[%k] : !tile.buffer<1x32xf32, #row, local, stages = 5>
      tile.store %zero, %s : tensor<1x32xf32>, !slot
    }
    scf.for %k = %c0 to %c24 step %c1 {
      %u = arith.addi %k, %base : index
      %s = tile.slot %R[%u] : !tile.buffer<1x32xf32, #row, local, stages = 5>
      %new = tile.load %X[%k, %c0] : !tile.view<1x32xf32> -> tensor<1x32xf32>
      %old = tile.load %s : !slot -> tensor<1x32xf32>
      %sum = arith.addf %new, %old : tensor<1x32xf32>
      tile.store %sum, %s : tensor<1x32xf32>, !slot
      tile.store %sum, %Y[%k, %c0] : tensor<1x32xf32>, !tile.view<1x32xf32>
    }
    tile.return
  }
  tile.kernel private @ring6(%x: memref<24x32xf32>, %y: memref<24x32xf32>) attributes {warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %c24 = arith.constant 24 : index
    %base = arith.constant 2147483610 : index
    %zero = arith.constant dense<0.0> : tensor<1x32xf32>
    %R = tile.alloc : !tile.buffer<1x32xf32, #row, local, stages = 6>
    %X = tile.view %x : memref<24x32xf32> to !tile.view<1x32xf32>
    %Y = tile.view %y : memref<24x32xf32> to !tile.view<1x32xf32>
    scf.for %k = %c0 to %c6 step %c1 {
      %s = tile.slot %R[%k] : !tile.buffer<1x32xf32, #row, local, stages = 6>
      tile.store %zero, %s : tensor<1x32xf32>, !slot
    }
    scf.for %k = %c0 to %c24 step %c1 {
      %u = arith.addi %k, %base : index
      %s = tile.slot %R[%u] : !tile.buffer<1x32xf32, #row, local, stages = 6>
      %new = tile.load %X[%k, %c0] : !tile.view<1x32xf32> -> tensor<1x32xf32>
      %old = tile.load %s : !slot -> tensor<1x32xf32>
      %sum = arith.addf %new, %old : tensor<1x32xf32>
      tile.store %sum, %s : tensor<1x32xf32>, !slot
      tile.store %sum, %Y[%k, %c0] : tensor<1x32xf32>, !tile.view<1x32xf32>
    }
    tile.return
  }
  tile.kernel private @ring7(%x: memref<24x32xf32>, %y: memref<24x32xf32>) attributes {warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c24 = arith.constant 24 : index
    %base = arith.constant 2147483610 : index
    %zero = arith.constant dense<0.0> : tensor<1x32xf32>
    %R = tile.alloc : !tile.buffer<1x32xf32, #row, local, stages = 7>
    %X = tile.view %x : memref<24x32xf32> to !tile.view<1x32xf32>
    %Y = tile.view %y : memref<24x32xf32> to !tile.view<1x32xf32>
    scf.for %k = %c0 to %c7 step %c1 {
      %s = tile.slot %R[%k] : !tile.buffer<1x32xf32, #row, local, stages = 7>
      tile.store %zero, %s : tensor<1x32xf32>, !slot
    }
    scf.for %k = %c0 to %c24 step %c1 {
      %u = arith.addi %k, %base : index
      %s = tile.slot %R[%u] : !tile.buffer<1x32xf32, #row, local, stages = 7>
      %new = tile.load %X[%k, %c0] : !tile.view<1x32xf32> -> tensor<1x32xf32>
      %old = tile.load %s : !slot -> tensor<1x32xf32>
      %sum = arith.addf %new, %old : tensor<1x32xf32>
      tile.store %sum, %s : tensor<1x32xf32>, !slot
      tile.store %sum, %Y[%k, %c0] : tensor<1x32xf32>, !tile.view<1x32xf32>
    }
    tile.return
  }
}
