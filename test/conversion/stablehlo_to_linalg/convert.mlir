// Constants and broadcasts become maps and constants of the body; rank 0 becomes scalars; private functions are inlined;
// unsigned integers become signless ones and keep their meaning.
// RUN: %tile_opt %s --convert-stablehlo-to-linalg --canonicalize --cse | FileCheck %s
// RUN: %tile_translate %s --import-stablehlo | FileCheck %s

// CHECK-NOT: stablehlo
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @main(
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ROWS]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%{{.*}}, %{{.*}} : tensor<4x6xf32>, tensor<4xf32>)
// CHECK: arith.subf
func.func @main(%x: tensor<4x6xf32>, %m: tensor<4xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x6xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %{{.*}}: tensor<i32>, %{{.*}}: tensor<3xi32>) -> (tensor<i32>, tensor<3xi32>)
// CHECK: tensor.extract
// CHECK: arith.shrui
// CHECK: linalg.generic
// CHECK: arith.divui
// CHECK: tensor.from_elements
func.func @scalars(%x: tensor<ui32>, %y: tensor<3xui32>) -> (tensor<ui32>, tensor<3xui32>) {
  %c = stablehlo.constant dense<3> : tensor<ui32>
  %0 = stablehlo.shift_right_logical %x, %c : tensor<ui32>
  %1 = call @divide(%y, %c) : (tensor<3xui32>, tensor<ui32>) -> tensor<3xui32>
  return %0, %1 : tensor<ui32>, tensor<3xui32>
}
// CHECK-NOT: func.func
func.func private @divide(%x: tensor<3xui32>, %y: tensor<ui32>) -> tensor<3xui32> {
  %0 = stablehlo.broadcast_in_dim %y, dims = [] : (tensor<ui32>) -> tensor<3xui32>
  %1 = stablehlo.divide %x, %0 : tensor<3xui32>
  return %1 : tensor<3xui32>
}

// What the body returns as it takes it is not carried; a counter is a scalar.
// CHECK-LABEL: func.func @loop(
// CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>)
// CHECK: scf.condition
func.func @loop(%n: tensor<i32>, %x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:4 = stablehlo.while(%i = %c, %limit = %n, %y = %x, %v = %w) : tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.multiply %y, %v : tensor<4xf32>
    stablehlo.return %1, %limit, %2, %v : tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#2, %0#3 : tensor<4xf32>, tensor<4xf32>
}
