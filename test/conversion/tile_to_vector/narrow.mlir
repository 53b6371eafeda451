// Elements of 6 bits in bytes: 16 of them lie in 12 bytes. Each lane takes its two bytes, and shifts. A place of the row
// that is not the start of a byte is two bytes too.
// RUN: %tile_opt %s --convert-tile-to-vector | FileCheck %s

// CHECK-LABEL: func.func {{.*}}@rows
// CHECK: %[[BYTES:.*]] = vector.load {{.*}} vector<12xi8>
// CHECK: %[[PAIRS:.*]] = vector.shuffle %[[BYTES]], %[[BYTES]] [0, 1, 0, 1, 1, 2, 2, 3, 3, 4,
// CHECK: %[[WORDS:.*]] = vector.bitcast %[[PAIRS]] : vector<32xi8> to vector<16xi16>
// CHECK: %[[SHIFTED:.*]] = arith.shrui %[[WORDS]], %{{.*}} : vector<16xi16>
// CHECK: arith.trunci %[[SHIFTED]] : vector<16xi16> to vector<16xi6>
tile.kernel @rows(%x: memref<4x24xi8>, %y: memref<4x32xi8>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = tile.view %x : memref<4x24xi8> to !tile.view<1x24xi8>
  %t = tile.load %v[%i, %c0] : !tile.view<1x24xi8> -> tensor<1x24xi8>
  %b = tile.bitcast %t : tensor<1x24xi8> -> tensor<1x32xi6>
  %e = arith.extsi %b : tensor<1x32xi6> to tensor<1x32xi8>
  %w = tile.view %y : memref<4x32xi8> to !tile.view<1x32xi8>
  tile.store %e, %w[%i, %c0] : tensor<1x32xi8>, !tile.view<1x32xi8>
  tile.return
}
