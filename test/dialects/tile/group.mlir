// tile.group keeps its meaning in every form; a group without ops folds; equal groups merge and unused ones vanish.
// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s
// RUN: %tile_opt %s --canonicalize --cse | FileCheck %s --check-prefix=FOLD
// RUN: %tile_run %s --target=interpret --entry=groups --check-against=interpret | FileCheck %s --check-prefix=MEANS

// MEANS: right, largest error

// CHECK: #[[S:.*]] = #tile.schedule<block = [8]>
// CHECK-LABEL: func.func @groups
func.func @groups(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: tile.group ins({{.*}} : tensor<8xf32>, tensor<8xf32>) meets [register, shared] schedule #[[S]] -> tensor<8xf32>, tensor<8xf32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<8xf32>, %{{.*}}: tensor<8xf32>):
  %z:2 = tile.group ins(%x, %y : tensor<8xf32>, tensor<8xf32>) meets [register, shared]
      schedule #tile.schedule<block = [8]> -> tensor<8xf32>, tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %e = tensor.empty() : tensor<8xf32>
    %s = linalg.add ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %r = linalg.mul ins(%s, %s : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    // CHECK: tile.yield %{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>
    tile.yield %r, %s : tensor<8xf32>, tensor<8xf32>
  }
  return %z#0, %z#1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @empty
// FOLD-LABEL: func.func @empty
// FOLD-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<8xf32>)
// FOLD-NEXT: return %[[Y]], %[[X]]
func.func @empty(%x: tensor<4xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  // CHECK: tile.group ins({{.*}}) -> tensor<8xf32>, tensor<4xf32> attributes {note = 1 : i64} {
  %z:2 = tile.group ins(%x, %y : tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>, tensor<4xf32> attributes {note = 1} {
  ^bb0(%a: tensor<4xf32>, %b: tensor<8xf32>):
    tile.yield %b, %a : tensor<8xf32>, tensor<4xf32>
  }
  return %z#0, %z#1 : tensor<8xf32>, tensor<4xf32>
}

// FOLD-LABEL: func.func @equal
// FOLD-COUNT-1: tile.group
// FOLD-NOT: tile.group
func.func @equal(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %z = tile.group ins(%x : tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %r = linalg.exp ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  %w = tile.group ins(%x : tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %r = linalg.exp ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  %u = tile.group ins(%x : tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %r = linalg.log ins(%a : tensor<8xf32>) outs(%a : tensor<8xf32>) -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  return %z, %w : tensor<8xf32>, tensor<8xf32>
}
