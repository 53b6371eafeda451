// Arithmetic on whole tensors, outside of linalg: as fast and as right as linalg's, on every target.
// RUN: %tile_run %s --size=37 --target=cpu --target=emulate:sm_80 --target=emulate:gfx942 --check-against=interpret | FileCheck %s
// CHECK: right
// CHECK-NOT: {{[1-9][0-9]* of}}
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %i: tensor<4x8xi32>, %d: tensor<?xf32>, %c: i1, %z: tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<?xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4x8xi1>) {
  %s = arith.addf %x, %y : tensor<4x8xf32>
  %r = math.erf %s : tensor<4x8xf32>
  %k = arith.constant dense<3> : tensor<4x8xi32>
  %j = arith.muli %i, %k : tensor<4x8xi32>
  %f = arith.sitofp %j : tensor<4x8xi32> to tensor<4x8xf32>
  %e = math.absf %d : tensor<?xf32>
  %g = arith.mulf %e, %d : tensor<?xf32>
  %p = arith.cmpf ogt, %x, %y : tensor<4x8xf32>
  %m = arith.select %p, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>
  %o = arith.select %c, %m, %x : tensor<4x8xf32>
  %w = arith.negf %z : tensor<f32>
  return %r, %j, %f, %g, %o, %w, %p : tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>, tensor<?xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4x8xi1>
}
