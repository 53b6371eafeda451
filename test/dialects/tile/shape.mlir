// Shape: every op in every optional form keeps its meaning in its pretty, generic and bytecode form.
// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// CHECK-LABEL: tile.func @shapes
tile.func @shapes(%x: tensor<4x8xf32>, %v: tensor<4xf32>, %s: f32, %i: index, %k: i32, %bytes: tensor<64xi8>, %p: tensor<2x8xf32>) {
  // CHECK: tile.iota dim 1 : tensor<4x8xindex>
  %0 = tile.iota dim 1 : tensor<4x8xindex>
  // CHECK: tile.iota dim 0 from %{{.*}} : tensor<4x8xindex>
  %1 = tile.iota dim 0 from %i : tensor<4x8xindex>
  // CHECK: tile.iota dim 0 from %{{.*}} {here} : tensor<4xi32>
  %2 = tile.iota dim 0 from %k {here} : tensor<4xi32>
  // CHECK: tile.broadcast %{{.*}} axes [1] : tensor<4xf32> -> tensor<4x8xf32>
  %3 = tile.broadcast %v axes [1] : tensor<4xf32> -> tensor<4x8xf32>
  // CHECK: tile.broadcast %{{.*}} axes [0, 2] : tensor<4xf32> -> tensor<2x4x8xf32>
  %4 = tile.broadcast %v axes [0, 2] : tensor<4xf32> -> tensor<2x4x8xf32>
  // CHECK: tile.broadcast %{{.*}} : f32 -> tensor<4x8xf32>
  %5 = tile.broadcast %s : f32 -> tensor<4x8xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<4x8xf32> -> tensor<2x16xf32>
  %6 = tile.reshape %x : tensor<4x8xf32> -> tensor<2x16xf32>
  // CHECK: tile.transpose %{{.*}} [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %7 = tile.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK: tile.slice %{{.*}}[0, 4] : tensor<4x8xf32> -> tensor<2x4xf32>
  %8 = tile.slice %x[0, 4] : tensor<4x8xf32> -> tensor<2x4xf32>
  // CHECK: tile.slice %{{.*}}[%{{.*}}, 0] : tensor<4x8xf32> -> tensor<2x8xf32>
  %9 = tile.slice %x[%i, 0] : tensor<4x8xf32> -> tensor<2x8xf32>
  // CHECK: tile.insert %{{.*}} into %{{.*}}[%{{.*}}, 0] : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %10 = tile.insert %p into %x[%i, 0] : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: tile.insert %{{.*}} into %{{.*}}[2, 0] {here} : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %11 = tile.insert %p into %x[2, 0] {here} : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: tile.cat %{{.*}}, %{{.*}} axis 0 : tensor<4x8xf32>, tensor<2x8xf32> -> tensor<6x8xf32>
  %12 = tile.cat %x, %p axis 0 : tensor<4x8xf32>, tensor<2x8xf32> -> tensor<6x8xf32>
  // CHECK: tile.bitcast %{{.*}} : tensor<64xi8> -> tensor<128xi4>
  %13 = tile.bitcast %bytes : tensor<64xi8> -> tensor<128xi4>
  tile.return
}

// Buffers: another name for the same memory.
#rows = #tile.layout<offset [64:d1, 32:d0]>
#flat = #tile.layout<offset [2048:d0]>
#columns = #tile.layout<offset [64:d0, 32:d1]>
#part = #tile.layout<offset [64:d1, 16:d0]>
// CHECK-LABEL: tile.kernel @buffers
tile.kernel @buffers(%i: index) {
  %b = tile.alloc : !tile.buffer<32x64xf16, #rows, shared>
  // CHECK: tile.reshape %{{.*}} : !buffer{{.*}} -> !buffer{{.*}}
  %0 = tile.reshape %b : !tile.buffer<32x64xf16, #rows, shared> -> !tile.buffer<2048xf16, #flat, shared>
  // CHECK: tile.transpose %{{.*}} [1, 0] : !buffer{{.*}} -> !buffer{{.*}}
  %1 = tile.transpose %b [1, 0] : !tile.buffer<32x64xf16, #rows, shared> -> !tile.buffer<64x32xf16, #columns, shared>
  // CHECK: tile.slice %{{.*}}[16, 0] : !buffer{{.*}} -> !buffer{{.*}}
  %2 = tile.slice %b[16, 0] : !tile.buffer<32x64xf16, #rows, shared> -> !tile.buffer<16x64xf16, #part, shared>
  tile.return
}
