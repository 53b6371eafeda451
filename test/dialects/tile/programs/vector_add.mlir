// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

// What:   y = a + b for any length.
// Level:  tile kernel.
// Shows:  a view cuts memory into tiles and masks the ragged edge on load and on store; the program id is the tile index;
//         no pointer arithmetic, no `if`, no mask in the program.
// Launch: grid(ceildiv(n, 1024)), see destination_style.mlir.

tile.kernel @vector_add(%a: memref<?xf32>, %b: memref<?xf32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %A = tile.view %a : memref<?xf32> to !tile.view<1024xf32>
  %B = tile.view %b : memref<?xf32> to !tile.view<1024xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<1024xf32>
  %x0 = tile.load %A[%i] : !tile.view<1024xf32> -> tensor<1024xf32>
  %x1 = tile.load %B[%i] : !tile.view<1024xf32> -> tensor<1024xf32>
  %s = arith.addf %x0, %x1 : tensor<1024xf32>
  tile.store %s, %Y[%i] : tensor<1024xf32>, !tile.view<1024xf32>
  tile.return
}

// CHECK: tile.kernel @vector_add(%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>) {
// CHECK: tile.program_id 0
// CHECK: tile.view %{{.*}} : memref<?xf32> to !tile.view<1024xf32>
// CHECK: tile.load %{{.*}}[%{{.*}}] : !tile.view<1024xf32> -> tensor<1024xf32>
// CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}] : tensor<1024xf32>, !tile.view<1024xf32>
// CHECK: tile.return
