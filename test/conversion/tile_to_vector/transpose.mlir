// RUN: %tile_opt %s --pass-pipeline='builtin.module(convert-tile-to-vector,func.func(canonicalize,cse))' | FileCheck %s

// What lies along another axis than it is written along is turned in registers, 16 by 16: nothing gathers.
// CHECK-LABEL: func.func @turned
// CHECK-NOT: vector.gather
// CHECK-COUNT-16: vector.load
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: vector.store
// CHECK-NOT: vector.gather
tile.kernel @turned(%x: memref<32x64xf32>, %y: memref<64x32xf32>) {
  %i = arith.constant 0 : index
  %X = tile.view %x : memref<32x64xf32> to !tile.view<64x32xf32, order = [1, 0]>
  %Y = tile.view %y : memref<64x32xf32> to !tile.view<64x32xf32>
  %t = tile.load %X[%i, %i] : !tile.view<64x32xf32, order = [1, 0]> -> tensor<64x32xf32>
  tile.store %t, %Y[%i, %i] : tensor<64x32xf32>, !tile.view<64x32xf32>
  tile.return
}

// Of two inputs that lie along different axes one has to be gathered.
// CHECK-LABEL: func.func @mixed
// CHECK-NOT: vector.shuffle
// CHECK: vector.gather
tile.kernel @mixed(%x: memref<32x64xf32>, %z: memref<64x32xf32>, %y: memref<64x32xf32> {llvm.noalias}) {
  %i = arith.constant 0 : index
  %X = tile.view %x : memref<32x64xf32> to !tile.view<64x32xf32, order = [1, 0]>
  %Z = tile.view %z : memref<64x32xf32> to !tile.view<64x32xf32>
  %Y = tile.view %y : memref<64x32xf32> to !tile.view<64x32xf32>
  %t = tile.load %X[%i, %i] : !tile.view<64x32xf32, order = [1, 0]> -> tensor<64x32xf32>
  %u = tile.load %Z[%i, %i] : !tile.view<64x32xf32> -> tensor<64x32xf32>
  %s = arith.addf %t, %u : tensor<64x32xf32>
  tile.store %s, %Y[%i, %i] : tensor<64x32xf32>, !tile.view<64x32xf32>
  tile.return
}
