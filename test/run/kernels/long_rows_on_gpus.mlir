// Rows that take a loop: sums, greatest values and a product of one row, whose threads exchange what they have once,
// behind the loop.
// RUN: %tile_run %s --entry=sums --target=emulate:sm_80 --target=emulate:gfx942 --target=emulate:gfx1100 --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=greatest --target=emulate:sm_80 --target=emulate:gfx942 --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=counts --target=emulate:sm_80 --target=emulate:gfx942 --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=product --target=emulate:sm_80 --target=emulate:sm_90a --target=emulate:gfx942 --check-against=interpret | FileCheck %s
// CHECK: right
// CHECK-NOT: {{; [1-9][0-9]* of}}
#rows = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> (i)>
func.func @sums(%x: tensor<3x8191xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %s = linalg.generic {indexing_maps = [#rows, #one], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x8191xf32>) outs(%y : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<3xf32>
  return %s : tensor<3xf32>
}
func.func @greatest(%x: tensor<2x9001xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %s = linalg.generic {indexing_maps = [#rows, #one], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x9001xf32>) outs(%y : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<2xf32>
  return %s : tensor<2xf32>
}
func.func @counts(%x: tensor<5x7000xi32>, %y: tensor<5xi32>) -> tensor<5xi32> {
  %s = linalg.generic {indexing_maps = [#rows, #one], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x7000xi32>) outs(%y : tensor<5xi32>) {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    linalg.yield %c : i32
  } -> tensor<5xi32>
  return %s : tensor<5xi32>
}
func.func @product(%a: tensor<1x1333xf32>, %b: tensor<1333x250xf32>, %c: tensor<1x250xf32>) -> tensor<1x250xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<1x1333xf32>, tensor<1333x250xf32>) outs(%c : tensor<1x250xf32>) -> tensor<1x250xf32>
  return %d : tensor<1x250xf32>
}
