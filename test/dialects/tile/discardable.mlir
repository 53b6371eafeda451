// What ops of other dialects, and ours, may carry under our name.
// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// CHECK: module attributes {tile.machine = #tile.machine<"native">}
module attributes {tile.machine = #tile.machine<"native">} {
  func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
    // CHECK: linalg.matmul {tile.schedule = #schedule}
    %0 = linalg.matmul {tile.schedule = #tile.schedule<block = [8, 8, 8]>}
        ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
  tile.kernel @hints(%x: memref<?xf32>, %i: index) {
    %X = tile.view %x : memref<?xf32> to !tile.view<64xf32>
    // CHECK: tile.load %{{.*}}[%{{.*}}] {tile.cache = "streaming", tile.latency = 400 : i64}
    %v = tile.load %X[%i] {tile.cache = "streaming", tile.latency = 400} : !tile.view<64xf32> -> tensor<64xf32>
    tile.return
  }
}
