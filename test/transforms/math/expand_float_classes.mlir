// RUN: %tile_opt %s --tile-expand-float-classes | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(tile-expand-float-classes)' | FileCheck %s

// CHECK-LABEL: func.func @classes
// CHECK: %[[a:.*]] = math.absf %arg0
// CHECK: arith.cmpf ogt, %[[a]], %{{.*}} : f16
// CHECK: arith.cmpf oge, %{{.*}}, %{{.*}} : f16
// CHECK: arith.cmpf ole, %{{.*}}, %{{.*}} : f16
// CHECK: arith.andi
func.func @classes(%x: f16) -> (i1, i1) {
  %i = math.isinf %x : f16
  %n = math.isnormal %x : f16
  return %i, %n : i1, i1
}
// CHECK-LABEL: func.func @pairs
// CHECK: %[[m:.*]] = arith.maximumf %arg0, %arg1
// CHECK: arith.minimumf %[[m]], %arg2
// CHECK: math.cos
// CHECK: math.sin
func.func @pairs(%x: vector<4xf32>, %l: vector<4xf32>, %h: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>) {
  %c = math.clampf %x to [%l, %h] : vector<4xf32>
  %s, %k = math.sincos %x : vector<4xf32>
  return %c, %s, %k : vector<4xf32>, vector<4xf32>, vector<4xf32>
}
// A tensor of unknown size stays: it becomes linalg first.
// CHECK-LABEL: func.func @unknown
// CHECK: math.isinf
func.func @unknown(%x: tensor<?xf32>) -> tensor<?xi1> {
  %i = math.isinf %x : tensor<?xf32>
  return %i : tensor<?xi1>
}
