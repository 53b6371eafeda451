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

// Into a buffer of the kernel's own the squares follow each other along the source's rows of 64, not along the buffer's of 32.
// CHECK-LABEL: func.func @packed
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c16
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c64 step %c16
// CHECK: vector.shuffle
tile.kernel @packed(%x: memref<32x64xf32>, %y: memref<64x32xf32>) {
  %i = arith.constant 0 : index
  %X = tile.view %x : memref<32x64xf32> to !tile.view<64x32xf32, order = [1, 0]>
  %Y = tile.view %y : memref<64x32xf32> to !tile.view<64x32xf32>
  %b = tile.alloc : !tile.buffer<64x32xf32, #tile.layout<offset [32:d1, 64:d0]>, local>
  tile.copy %X[%i, %i] to %b : !tile.view<64x32xf32, order = [1, 0]> to !tile.buffer<64x32xf32, #tile.layout<offset [32:d1, 64:d0]>, local>
  %t = tile.load %b : !tile.buffer<64x32xf32, #tile.layout<offset [32:d1, 64:d0]>, local> -> tensor<64x32xf32>
  tile.store %t, %Y[%i, %i] : tensor<64x32xf32>, !tile.view<64x32xf32>
  tile.return
}
