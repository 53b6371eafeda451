// Where a view ends: sizes around 2^31 and 2^32, programs that begin behind the end. One, some and many pieces of a
// thread are compared with the end in different ways.
// RUN: %tile_run %s --target=emulate:sm_80 --check-against=interpret
// RUN: %tile_run %s --target=emulate:gfx942 --check-against=interpret
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts{chip=sm_80}),convert-tile-to-nvvm{chip=sm_80},canonicalize,cse)' | FileCheck %s
// One piece: a comparison of 64 bits. Four: one difference of 64 bits. More: one difference of 32 bits.
// CHECK-LABEL: llvm.func @ends
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK: %[[WIDE:.*]] = arith.subi %{{.*}}, %{{.*}} : i64
// CHECK: arith.cmpi sgt, %[[WIDE]], %c0_i64 : i64
// CHECK: arith.cmpi sgt, %[[WIDE]], %c96_i64 : i64
// CHECK: %[[LEFT:.*]] = arith.minui %{{.*}}, %c2147483647_i32 : i32
// CHECK: %[[ROOM:.*]] = arith.subi %[[LEFT]], %{{.*}} : i32
// CHECK: arith.cmpi sgt, %[[ROOM]], %c0_i32 : i32
// CHECK: arith.cmpi sgt, %[[ROOM]], %c480_i32 : i32
// CHECK-NOT: arith.minsi
// CHECK: llvm.return
module {
  func.func @main(%x: tensor<1xf32>) -> (tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>) {
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<672xf32>
    %n5 = arith.constant 5 : index
    %n0 = arith.constant 0 : index
    %n67 = arith.constant 67 : index
    %n1 = arith.constant 1 : index
    %n2047 = arith.constant 2047 : index
    %n2147483648 = arith.constant 2147483648 : index
    %n4294967299 = arith.constant 4294967299 : index
    %n8589934592 = arith.constant 8589934592 : index
    %n40000000 = arith.constant 40000000 : index
    %y0 = tile.launch @ends grid(%c1) ins(%x, %n5, %n0 : tensor<1xf32>, index, index) outs(%e : tensor<672xf32>) -> tensor<672xf32>
    %y1 = tile.launch @ends grid(%c1) ins(%x, %n67, %n0 : tensor<1xf32>, index, index) outs(%e : tensor<672xf32>) -> tensor<672xf32>
    %y2 = tile.launch @ends grid(%c1) ins(%x, %n67, %n1 : tensor<1xf32>, index, index) outs(%e : tensor<672xf32>) -> tensor<672xf32>
    %y3 = tile.launch @ends grid(%c1) ins(%x, %n2047, %n1 : tensor<1xf32>, index, index) outs(%e : tensor<672xf32>) -> tensor<672xf32>
    %y4 = tile.launch @ends grid(%c1) ins(%x, %n2147483648, %n0 : tensor<1xf32>, index, index) outs(%e : tensor<672xf32>) -> tensor<672xf32>
    %y5 = tile.launch @ends grid(%c1) ins(%x, %n4294967299, %n0 : tensor<1xf32>, index, index) outs(%e : tensor<672xf32>) -> tensor<672xf32>
    %y6 = tile.launch @ends grid(%c1) ins(%x, %n4294967299, %n1 : tensor<1xf32>, index, index) outs(%e : tensor<672xf32>) -> tensor<672xf32>
    %y7 = tile.launch @ends grid(%c1) ins(%x, %n8589934592, %n0 : tensor<1xf32>, index, index) outs(%e : tensor<672xf32>) -> tensor<672xf32>
    %y8 = tile.launch @ends grid(%c1) ins(%x, %n67, %n40000000 : tensor<1xf32>, index, index) outs(%e : tensor<672xf32>) -> tensor<672xf32>
    %before = arith.constant -1 : index
    %y9 = tile.launch @ends grid(%c1) ins(%x, %n67, %before : tensor<1xf32>, index, index) outs(%e : tensor<672xf32>) -> tensor<672xf32>
    return %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7, %y8, %y9 : tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>, tensor<672xf32>
  }
  tile.kernel private @ends(%x: memref<1xf32>, %n: index, %p: index, %y: memref<672xf32>) attributes {warps = 1 : i32} {
    %c0 = arith.constant 0 : index
    %z = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [0] : memref<1xf32> to memref<?xf32, strided<[0]>>
    %y0 = memref.subview %y[0] [32] [1] : memref<672xf32> to memref<32xf32>
    %y1 = memref.subview %y[32] [128] [1] : memref<672xf32> to memref<128xf32, strided<[1], offset: 32>>
    %y2 = memref.subview %y[160] [512] [1] : memref<672xf32> to memref<512xf32, strided<[1], offset: 160>>
    %X0 = tile.view %z : memref<?xf32, strided<[0]>> to !tile.view<32xf32>
    %Y0 = tile.view %y0 : memref<32xf32> to !tile.view<32xf32>
    %t0 = tile.load %X0[%p] : !tile.view<32xf32> -> tensor<32xf32>
    tile.store %t0, %Y0[%c0] : tensor<32xf32>, !tile.view<32xf32>
    %X1 = tile.view %z : memref<?xf32, strided<[0]>> to !tile.view<128xf32>
    %Y1 = tile.view %y1 : memref<128xf32, strided<[1], offset: 32>> to !tile.view<128xf32>
    %t1 = tile.load %X1[%p] : !tile.view<128xf32> -> tensor<128xf32>
    tile.store %t1, %Y1[%c0] : tensor<128xf32>, !tile.view<128xf32>
    %X2 = tile.view %z : memref<?xf32, strided<[0]>> to !tile.view<512xf32>
    %Y2 = tile.view %y2 : memref<512xf32, strided<[1], offset: 160>> to !tile.view<512xf32>
    %t2 = tile.load %X2[%p] : !tile.view<512xf32> -> tensor<512xf32>
    tile.store %t2, %Y2[%c0] : tensor<512xf32>, !tile.view<512xf32>
    tile.return
  }
}
