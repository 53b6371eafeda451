// What no kernel covers stays linalg, without a word: it goes by upstream's route and is counted.
// RUN: %tile_opt %s --split-input-file --convert-linalg-to-tile --mlir-print-local-scope | FileCheck %s --implicit-check-not=tile.
// RUN: %mlir_opt_plugin %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(convert-linalg-to-tile)' | FileCheck %s --implicit-check-not=tile.

// CHECK-LABEL: @repeat
// CHECK: linalg.generic
func.func @repeat(%x: tensor<4xf32>, %e: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Several programs would write each element.
// CHECK-LABEL: @last_wins
// CHECK: linalg.generic
func.func @last_wins(%x: tensor<5x7xf32>, %e: tensor<5xf32>) -> tensor<5xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<5x7xf32>) outs(%e : tensor<5xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

// On memrefs, and with an encoding.
// CHECK-LABEL: @memrefs
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @memrefs(%m: memref<4xf32>, %x: tensor<4xf32, "odd">, %e: tensor<4xf32, "odd">) -> tensor<4xf32, "odd"> {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%m : memref<4xf32>) {
  ^bb0(%o: f32):
    %v = arith.addf %o, %o : f32
    linalg.yield %v : f32
  }
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32, "odd">) outs(%e : tensor<4xf32, "odd">) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32, "odd">
  return %r : tensor<4xf32, "odd">
}

// -----

// A view pads with zero, not with one.
// CHECK-LABEL: @pack_with_ones
// CHECK: linalg.pack
func.func @pack_with_ones(%x: tensor<21x37xf32>, %e: tensor<3x5x8x8xf32>) -> tensor<3x5x8x8xf32> {
  %one = arith.constant 1.0 : f32
  %r = linalg.pack %x padding_value(%one : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %e
      : tensor<21x37xf32> -> tensor<3x5x8x8xf32>
  return %r : tensor<3x5x8x8xf32>
}
