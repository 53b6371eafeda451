// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(convert-tile-to-vector,func.func(canonicalize,cse))' | FileCheck %s

// Products of four neighbours of bytes, unsigned by signed, that are added up: one instruction for each vector, which
// adds to what is added to it. The lanes of 16 rows are added up by shuffles.
// CHECK-LABEL: func.func @dots
// CHECK-COUNT-16: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK-NOT: vpdpbusd
// CHECK-NOT: vector.reduction
// CHECK: vector.shuffle {{.*}} : vector<16xi32>, vector<16xi32>
// CHECK-NOT: vector.reduction
// CHECK: return
module attributes {tile.machine = #tile.machine<"x86-64-v4", "atom.vpdpbusd" = "1x16x4 i8,i8,i32">} {
  tile.kernel @dots(%a: memref<16x64xi8>, %b: memref<16x64xi8>, %s: memref<16x16xi32>, %c: memref<2x16xi32>) {
    %i = arith.constant 0 : index
    %A = tile.view %a : memref<16x64xi8> to !tile.view<16x64xi8>
    %B = tile.view %b : memref<16x64xi8> to !tile.view<16x64xi8>
    %S = tile.view %s : memref<16x16xi32> to !tile.view<16x16xi32>
    %C = tile.view %c : memref<2x16xi32> to !tile.view<2x16xi32>
    %x = tile.load %A[%i, %i] : !tile.view<16x64xi8> -> tensor<16x64xi8>
    %y = tile.load %B[%i, %i] : !tile.view<16x64xi8> -> tensor<16x64xi8>
    %z = tile.load %S[%i, %i] : !tile.view<16x16xi32> -> tensor<16x16xi32>
    %xf = tile.reshape %x : tensor<16x64xi8> -> tensor<16x16x4xi8>
    %yf = tile.reshape %y : tensor<16x64xi8> -> tensor<16x16x4xi8>
    %xw = arith.extui %xf : tensor<16x16x4xi8> to tensor<16x16x4xi32>
    %yw = arith.extsi %yf : tensor<16x16x4xi8> to tensor<16x16x4xi32>
    %p = arith.muli %xw, %yw : tensor<16x16x4xi32>
    %f = tile.reduce {arith.addi} %p axes [2] : tensor<16x16x4xi32> -> tensor<16x16xi32>
    %sum = arith.addi %z, %f : tensor<16x16xi32>
    %t = tile.transpose %sum [1, 0] : tensor<16x16xi32> -> tensor<16x16xi32>
    %g = tile.reshape %t : tensor<16x16xi32> -> tensor<2x8x16xi32>
    %r = tile.reduce {arith.addi} %g axes [1] : tensor<2x8x16xi32> -> tensor<2x16xi32>
    tile.store %r, %C[%i, %i] : tensor<2x16xi32>, !tile.view<2x16xi32>
    tile.return
  }
}

// -----

// Two signed factors are no such products; a machine without the instruction multiplies words.
// CHECK-LABEL: func.func @signed
// CHECK-NOT: vpdpbusd
// CHECK: return
// CHECK-LABEL: func.func @without
// CHECK-NOT: call_intrinsic
// CHECK: arith.muli {{.*}} : vector<64xi32>
// CHECK-NOT: call_intrinsic
// CHECK: return
module attributes {tile.machine = #tile.machine<"x86-64-v4">} {
  tile.kernel @signed(%a: memref<16x64xi8>, %c: memref<16x16xi32>) {
    %i = arith.constant 0 : index
    %A = tile.view %a : memref<16x64xi8> to !tile.view<16x64xi8>
    %C = tile.view %c : memref<16x16xi32> to !tile.view<16x16xi32>
    %x = tile.load %A[%i, %i] : !tile.view<16x64xi8> -> tensor<16x64xi8>
    %xf = tile.reshape %x : tensor<16x64xi8> -> tensor<16x16x4xi8>
    %xw = arith.extsi %xf : tensor<16x16x4xi8> to tensor<16x16x4xi32>
    %p = arith.muli %xw, %xw : tensor<16x16x4xi32>
    %f = tile.reduce {arith.addi} %p axes [2] : tensor<16x16x4xi32> -> tensor<16x16xi32>
    tile.store %f, %C[%i, %i] : tensor<16x16xi32>, !tile.view<16x16xi32>
    tile.return
  }
  tile.kernel @without(%a: memref<16x64xi8>, %c: memref<16x16xi32>) {
    %i = arith.constant 0 : index
    %A = tile.view %a : memref<16x64xi8> to !tile.view<16x64xi8>
    %C = tile.view %c : memref<16x16xi32> to !tile.view<16x16xi32>
    %x = tile.load %A[%i, %i] : !tile.view<16x64xi8> -> tensor<16x64xi8>
    %xf = tile.reshape %x : tensor<16x64xi8> -> tensor<16x16x4xi8>
    %xw = arith.extsi %xf : tensor<16x16x4xi8> to tensor<16x16x4xi32>
    %xu = arith.extui %xf : tensor<16x16x4xi8> to tensor<16x16x4xi32>
    %p = arith.muli %xu, %xw : tensor<16x16x4xi32>
    %f = tile.reduce {arith.addi} %p axes [2] : tensor<16x16x4xi32> -> tensor<16x16xi32>
    tile.store %f, %C[%i, %i] : tensor<16x16xi32>, !tile.view<16x16xi32>
    tile.return
  }
}

// -----

// Bytes are words where they lie, and words bytes.
// CHECK-LABEL: func.func @words
// CHECK: vector.bitcast {{.*}} : vector<64xi8> to vector<16xi32>
// CHECK-NOT: arith.shli
// CHECK: return
module attributes {tile.machine = #tile.machine<"x86-64-v4">} {
  tile.kernel @words(%a: memref<2x64xi8>, %c: memref<2x16xi32>) {
    %i = arith.constant 0 : index
    %A = tile.view %a : memref<2x64xi8> to !tile.view<2x64xi8>
    %C = tile.view %c : memref<2x16xi32> to !tile.view<2x16xi32>
    %x = tile.load %A[%i, %i] : !tile.view<2x64xi8> -> tensor<2x64xi8>
    %w = tile.bitcast %x : tensor<2x64xi8> -> tensor<2x16xi32>
    tile.store %w, %C[%i, %i] : tensor<2x16xi32>, !tile.view<2x16xi32>
    tile.return
  }
}
