// Sums that begin with zero: a product of zeros for each fragment, each from the one before, so that none are merged.
// Sums that begin with another number, with -0 or with a value are moved.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts{chip=gfx942},tile-stage-in-shared-memory),convert-tile-to-rocdl{chip=gfx942})' | FileCheck %s
// RUN: %tile_run %s --target=emulate:gfx942 --check-against=interpret
// CHECK-LABEL: llvm.func @zero
// CHECK: %[[SUMS:.*]] = rocdl.mfma.f32.32x32x8f16 %[[X:[0-9]+]], %[[Y:[0-9]+]],
// CHECK: rocdl.mfma.f32.32x32x8f16 %[[X]], %[[Y]], %[[SUMS]],
// CHECK: scf.for
// CHECK: rocdl.mfma
// CHECK-LABEL: llvm.func @one
// CHECK-NOT: rocdl.mfma
// CHECK: scf.for
// CHECK: rocdl.mfma
// CHECK-LABEL: llvm.func @minus
// CHECK-NOT: rocdl.mfma
// CHECK: scf.for
module {
  func.func @main(%x: tensor<64x40xf16>, %y: tensor<40x64xf16>, %e0: tensor<64x0xf16>, %e1: tensor<0x64xf16>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<64x64xf32>
    %u = tensor.cast %x : tensor<64x40xf16> to tensor<?x?xf16>
    %v = tensor.cast %y : tensor<40x64xf16> to tensor<?x?xf16>
    %w = tensor.cast %e0 : tensor<64x0xf16> to tensor<?x?xf16>
    %z = tensor.cast %e1 : tensor<0x64xf16> to tensor<?x?xf16>
    %a = tile.launch @zero grid(%c1) ins(%u, %v : tensor<?x?xf16>, tensor<?x?xf16>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %b = tile.launch @zero grid(%c1) ins(%w, %z : tensor<?x?xf16>, tensor<?x?xf16>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %c = tile.launch @one grid(%c1) ins(%u, %v : tensor<?x?xf16>, tensor<?x?xf16>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %d = tile.launch @minus grid(%c1) ins(%w, %z : tensor<?x?xf16>, tensor<?x?xf16>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %a, %b, %c, %d : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  }
  tile.kernel private @zero(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<64x64xf32>) attributes {warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %start = arith.constant dense<0.0> : tensor<64x64xf32>
    %A = tile.view %a : memref<?x?xf16> to !tile.view<64x32xf16>
    %B = tile.view %b : memref<?x?xf16> to !tile.view<32x64xf16>
    %C = tile.view %c : memref<64x64xf32> to !tile.view<64x64xf32>
    %steps = tile.num_tiles %A dim 1 : !tile.view<64x32xf16>
    %r = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %start) -> (tensor<64x64xf32>) {
      %x = tile.load %A[%c0, %k] : !tile.view<64x32xf16> -> tensor<64x32xf16>
      %y = tile.load %B[%k, %c0] : !tile.view<32x64xf16> -> tensor<32x64xf16>
      %m = tile.mma %x, %y, %s : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %m : tensor<64x64xf32>
    }
    tile.store %r, %C[%c0, %c0] : tensor<64x64xf32>, !tile.view<64x64xf32>
    tile.return
  }
  tile.kernel private @one(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<64x64xf32>) attributes {warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %start = arith.constant dense<1.0> : tensor<64x64xf32>
    %A = tile.view %a : memref<?x?xf16> to !tile.view<64x32xf16>
    %B = tile.view %b : memref<?x?xf16> to !tile.view<32x64xf16>
    %C = tile.view %c : memref<64x64xf32> to !tile.view<64x64xf32>
    %steps = tile.num_tiles %A dim 1 : !tile.view<64x32xf16>
    %r = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %start) -> (tensor<64x64xf32>) {
      %x = tile.load %A[%c0, %k] : !tile.view<64x32xf16> -> tensor<64x32xf16>
      %y = tile.load %B[%k, %c0] : !tile.view<32x64xf16> -> tensor<32x64xf16>
      %m = tile.mma %x, %y, %s : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %m : tensor<64x64xf32>
    }
    tile.store %r, %C[%c0, %c0] : tensor<64x64xf32>, !tile.view<64x64xf32>
    tile.return
  }
  tile.kernel private @minus(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<64x64xf32>) attributes {warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %start = arith.constant dense<-0.0> : tensor<64x64xf32>
    %A = tile.view %a : memref<?x?xf16> to !tile.view<64x32xf16>
    %B = tile.view %b : memref<?x?xf16> to !tile.view<32x64xf16>
    %C = tile.view %c : memref<64x64xf32> to !tile.view<64x64xf32>
    %steps = tile.num_tiles %A dim 1 : !tile.view<64x32xf16>
    %r = scf.for %k = %c0 to %steps step %c1 iter_args(%s = %start) -> (tensor<64x64xf32>) {
      %x = tile.load %A[%c0, %k] : !tile.view<64x32xf16> -> tensor<64x32xf16>
      %y = tile.load %B[%k, %c0] : !tile.view<32x64xf16> -> tensor<32x64xf16>
      %m = tile.mma %x, %y, %s : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
      scf.yield %m : tensor<64x64xf32>
    }
    tile.store %r, %C[%c0, %c0] : tensor<64x64xf32>, !tile.view<64x64xf32>
    tile.return
  }
}
