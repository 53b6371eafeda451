// RUN: %tile_opt %s --pass-pipeline='builtin.module(convert-tile-to-vector,func.func(canonicalize,cse))' | FileCheck %s
// RUN: %tile_run %s --target=cpu --check-against=interpret

// Every second byte, of all bytes: vectors side by side, and a shuffle for each. The last vector begins one byte early,
// so that nothing behind the last lane is read.
// CHECK-LABEL: func.func @halves
// CHECK: %[[A:.*]] = vector.load {{.*}} vector<16xi8>
// CHECK-NEXT: %[[LOW:.*]] = vector.shuffle %[[A]], %[[A]] [0, 2, 4, 6, 8, 10, 12, 14] :
// CHECK-NEXT: %[[AT:.*]] = arith.addi %{{.*}}, %c15
// CHECK-NEXT: %[[B:.*]] = vector.load {{.*}}, %[[AT]]] {{.*}} vector<16xi8>
// CHECK-NEXT: vector.shuffle %[[LOW]], %[[B]] [0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15, 17, 19, 21, 23] :
tile.kernel private @halves(%x: memref<3x64x2xi8>, %y: memref<3x2x64xi8>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x[%i, _, _] : memref<3x64x2xi8> to !tile.view<64x2xi8>
  %Y = tile.view %y[%i, _, _] : memref<3x2x64xi8> to !tile.view<2x64xi8>
  %t = tile.load %X[%c0, %c0] : !tile.view<64x2xi8> -> tensor<64x2xi8>
  %u = tile.transpose %t [1, 0] : tensor<64x2xi8> -> tensor<2x64xi8>
  tile.store %u, %Y[%c0, %c0] : tensor<2x64xi8>, !tile.view<2x64xi8>
  tile.return
}

// Four and eight apart.
// CHECK-LABEL: func.func @more
// CHECK-COUNT-12: vector.shuffle
// CHECK-LABEL: func.func @far
// CHECK-NOT: vector.shuffle
tile.kernel private @more(%x: memref<64x4xf16>, %y: memref<4x64xf16>, %v: memref<64x8xi8>, %w: memref<8x64xi8>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<64x4xf16> to !tile.view<64x4xf16>
  %Y = tile.view %y : memref<4x64xf16> to !tile.view<4x64xf16>
  %t = tile.load %X[%c0, %c0] : !tile.view<64x4xf16> -> tensor<64x4xf16>
  %u = tile.transpose %t [1, 0] : tensor<64x4xf16> -> tensor<4x64xf16>
  tile.store %u, %Y[%c0, %c0] : tensor<4x64xf16>, !tile.view<4x64xf16>
  %V = tile.view %v : memref<64x8xi8> to !tile.view<64x8xi8>
  %W = tile.view %w : memref<8x64xi8> to !tile.view<8x64xi8>
  %s = tile.load %V[%c0, %c0] : !tile.view<64x8xi8> -> tensor<64x8xi8>
  %r = tile.transpose %s [1, 0] : tensor<64x8xi8> -> tensor<8x64xi8>
  tile.store %r, %W[%c0, %c0] : tensor<8x64xi8>, !tile.view<8x64xi8>
  tile.return
}

// Three apart: element by element.
tile.kernel private @far(%x: memref<64x3xi8>, %y: memref<64xi8>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<64x3xi8> to !tile.view<64x1xi8>
  %Y = tile.view %y : memref<64xi8> to !tile.view<64xi8>
  %t = tile.load %X[%c0, %c0] : !tile.view<64x1xi8> -> tensor<64x1xi8>
  %u = tile.reshape %t : tensor<64x1xi8> -> tensor<64xi8>
  tile.store %u, %Y[%c0] : tensor<64xi8>, !tile.view<64xi8>
  tile.return
}

func.func @main(%x: memref<3x64x2xi8>, %y: memref<3x2x64xi8>, %a: memref<64x4xf16>, %b: memref<4x64xf16>, %v: memref<64x8xi8>, %w: memref<8x64xi8>, %p: memref<64x3xi8>, %q: memref<64xi8>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  tile.launch @halves grid(%c3) ins(%x : memref<3x64x2xi8>) outs(%y : memref<3x2x64xi8>)
  tile.launch @more grid(%c1) ins(%a : memref<64x4xf16>) outs(%b, %v, %w : memref<4x64xf16>, memref<64x8xi8>, memref<8x64xi8>)
  tile.launch @far grid(%c1) ins(%p : memref<64x3xi8>) outs(%q : memref<64xi8>)
  return
}
