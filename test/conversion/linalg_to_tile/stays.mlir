// What no kernel covers stays linalg, without a word: it goes by upstream's route and is counted.
// RUN: %tile_opt %s --split-input-file --convert-linalg-to-tile --mlir-print-local-scope | FileCheck %s --implicit-check-not=tile.
// RUN: %mlir_opt_plugin %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(convert-linalg-to-tile)' | FileCheck %s --implicit-check-not=tile.

// CHECK-LABEL: @window
// CHECK: linalg.generic
func.func @window(%x: tensor<10xf32>, %k: tensor<3xf32>, %e: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %k : tensor<10xf32>, tensor<3xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %v = arith.addf %o, %p : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// CHECK-LABEL: @diagonal
// CHECK: linalg.generic
func.func @diagonal(%x: tensor<7x7xf32>, %e: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<7x7xf32>) outs(%e : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
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

// The second output reads what the first has summed so far: a scan.
// CHECK-LABEL: @running
// CHECK: linalg.generic
func.func @running(%x: tensor<5xf32>, %s: tensor<f32>, %m: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>],
                         iterator_types = ["reduction"]}
      ins(%x : tensor<5xf32>) outs(%s, %m : tensor<f32>, tensor<f32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %u = arith.addf %a, %o : f32
    %v = arith.maximumf %p, %u : f32
    linalg.yield %u, %v : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
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
