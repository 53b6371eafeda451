// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(canonicalize),convert-tile-to-vector,func.func(canonicalize,cse))' | FileCheck %s

// Operands that do not lie in groups are packed first: rows two by two side by side.
// CHECK-LABEL: func.func @pairs
// CHECK: vector.interleave {{.*}} : vector<32xbf16> -> vector<64xbf16>
// CHECK: vector.bitcast {{.*}} : vector<2xbf16> to vector<1xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
tile.kernel @pairs(%a: memref<8x64xbf16>, %b: memref<64x32xbf16>, %c: memref<8x32xf32>) {
  %i = arith.constant 0 : index
  %A = tile.view %a : memref<8x64xbf16> to !tile.view<8x64xbf16>
  %B = tile.view %b : memref<64x32xbf16> to !tile.view<64x32xbf16>
  %C = tile.view %c : memref<8x32xf32> to !tile.view<8x32xf32>
  %x = tile.load %A[%i, %i] : !tile.view<8x64xbf16> -> tensor<8x64xbf16>
  %y = tile.load %B[%i, %i] : !tile.view<64x32xbf16> -> tensor<64x32xbf16>
  %z = tile.load %C[%i, %i] : !tile.view<8x32xf32> -> tensor<8x32xf32>
  %r = tile.mma %x, %y, %z atom "vdpbf16ps" : tensor<8x64xbf16>, tensor<64x32xbf16> -> tensor<8x32xf32>
  tile.store %r, %C[%i, %i] : tensor<8x32xf32>, !tile.view<8x32xf32>
  tile.return
}

// Bytes: rows four by four.
// CHECK-LABEL: func.func @quads
// CHECK-COUNT-3: vector.interleave
// CHECK: vector.bitcast {{.*}} : vector<4xi8> to vector<1xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
tile.kernel @quads(%a: memref<8x64xi8>, %b: memref<64x16xi8>, %c: memref<8x16xi32>) {
  %i = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<8x16xi32>
  %A = tile.view %a : memref<8x64xi8> to !tile.view<8x64xi8>
  %B = tile.view %b : memref<64x16xi8> to !tile.view<64x16xi8>
  %C = tile.view %c : memref<8x16xi32> to !tile.view<8x16xi32>
  %x = tile.load %A[%i, %i] : !tile.view<8x64xi8> -> tensor<8x64xi8>
  %y = tile.load %B[%i, %i] : !tile.view<64x16xi8> -> tensor<64x16xi8>
  %r = tile.mma %x, %y, %zero atom "vpdpbusd" : tensor<8x64xi8>, tensor<64x16xi8> -> tensor<8x16xi32>
  tile.store %r, %C[%i, %i] : tensor<8x16xi32>, !tile.view<8x16xi32>
  tile.return
}

// Columns that fill no vectors, and k that is not a multiple of the group, go by multiply-adds.
// CHECK-LABEL: func.func @odd
// CHECK-NOT: call_intrinsic
tile.kernel @odd(%a: memref<8x63xi8>, %b: memref<63x16xi8>, %c: memref<8x16xi32>) {
  %i = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<8x16xi32>
  %A = tile.view %a : memref<8x63xi8> to !tile.view<8x63xi8>
  %B = tile.view %b : memref<63x16xi8> to !tile.view<63x16xi8>
  %C = tile.view %c : memref<8x16xi32> to !tile.view<8x16xi32>
  %x = tile.load %A[%i, %i] : !tile.view<8x63xi8> -> tensor<8x63xi8>
  %y = tile.load %B[%i, %i] : !tile.view<63x16xi8> -> tensor<63x16xi8>
  %r = tile.mma %x, %y, %zero atom "vpdpbusd" : tensor<8x63xi8>, tensor<63x16xi8> -> tensor<8x16xi32>
  tile.store %r, %C[%i, %i] : tensor<8x16xi32>, !tile.view<8x16xi32>
  tile.return
}

// Pairs of f16: the sums of even and of odd k are added up at the end.
// CHECK-LABEL: func.func @halves
// CHECK: vector.interleave
// CHECK: llvm.call_intrinsic "llvm.x86.avx512fp16.vfmadd.ph.512"
// CHECK: arith.shrui {{.*}} : vector<16xi32>
// CHECK: arith.addf {{.*}} : vector<16xf16>
tile.kernel @halves(%a: memref<8x64xf16>, %b: memref<64x32xf16>, %c: memref<8x32xf16>) {
  %i = arith.constant 0 : index
  %A = tile.view %a : memref<8x64xf16> to !tile.view<8x64xf16>
  %B = tile.view %b : memref<64x32xf16> to !tile.view<64x32xf16>
  %C = tile.view %c : memref<8x32xf16> to !tile.view<8x32xf16>
  %x = tile.load %A[%i, %i] : !tile.view<8x64xf16> -> tensor<8x64xf16>
  %y = tile.load %B[%i, %i] : !tile.view<64x32xf16> -> tensor<64x32xf16>
  %z = tile.load %C[%i, %i] : !tile.view<8x32xf16> -> tensor<8x32xf16>
  %r = tile.mma %x, %y, %z atom "vfmaddph" : tensor<8x64xf16>, tensor<64x32xf16> -> tensor<8x32xf16>
  tile.store %r, %C[%i, %i] : tensor<8x32xf16>, !tile.view<8x32xf16>
  tile.return
}

// Rows that lie in groups are multiplied where they are, although the tile is loaded by groups and flattened.
// CHECK-LABEL: func.func @flattened
// CHECK-NOT: vector.interleave
// CHECK: vector.load {{.*}} : memref<16x16x4xi8>, vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
tile.kernel @flattened(%a: memref<8x64xi8>, %b: memref<16x16x4xi8>, %c: memref<8x16xi32>) {
  %i = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<8x16xi32>
  %A = tile.view %a : memref<8x64xi8> to !tile.view<8x64xi8>
  %B = tile.view %b : memref<16x16x4xi8> to !tile.view<16x16x4xi8>
  %C = tile.view %c : memref<8x16xi32> to !tile.view<8x16xi32>
  %x = tile.load %A[%i, %i] : !tile.view<8x64xi8> -> tensor<8x64xi8>
  %y = tile.load %B[%i, %i, %i] : !tile.view<16x16x4xi8> -> tensor<16x16x4xi8>
  %t = tile.transpose %y [0, 2, 1] : tensor<16x16x4xi8> -> tensor<16x4x16xi8>
  %f = tile.reshape %t : tensor<16x4x16xi8> -> tensor<64x16xi8>
  %r = tile.mma %x, %f, %zero atom "vpdpbusd" : tensor<8x64xi8>, tensor<64x16xi8> -> tensor<8x16xi32>
  tile.store %r, %C[%i, %i] : tensor<8x16xi32>, !tile.view<8x16xi32>
  tile.return
}
