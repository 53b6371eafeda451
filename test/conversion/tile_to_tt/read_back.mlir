// What leaves as text for Triton comes back as loads and stores of views: the mask of an export says `0 <= place` too,
// which no instance of a launch can break.
// RUN: %tile_translate %s --tile-to-ttir -o %t.ttir
// RUN: %tile_translate %t.ttir --import-ttir -o %t.mlir
// RUN: %tile_opt %t.mlir --tile-raise-gathers-to-views 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=NONE --allow-empty < %t.remarks
// NONE-NOT: stays
// CHECK-LABEL: tile.kernel private @k(
// CHECK: scf.for
// CHECK: tile.load %{{.*}} : !tile.view<16x32xf32> -> tensor<16x32xf32>
// CHECK: tile.store %{{.*}} : tensor<16x32xf32>, !tile.view<16x32xf32>
// CHECK-LABEL: tile.kernel private @k_gathers
tile.kernel @k(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %i = tile.program_id 0
  %X = tile.view %x : memref<?x?xf32> to !tile.view<16x32xf32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<16x32xf32>
  %n = tile.num_tiles %X dim 1 : !tile.view<16x32xf32>
  %s = scf.for %j = %c0 to %n step %c1 iter_args(%t = %zero) -> tensor<16x32xf32> {
    %a = tile.load %X[%i, %j] : !tile.view<16x32xf32> -> tensor<16x32xf32>
    %u = arith.addf %t, %a : tensor<16x32xf32>
    scf.yield %u : tensor<16x32xf32>
  }
  tile.store %s, %Y[%i, %c0] : tensor<16x32xf32>, !tile.view<16x32xf32>
  tile.return
}
