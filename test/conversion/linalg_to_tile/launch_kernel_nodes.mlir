// Two nodes behind a launch, of which one changes what its output holds: one copy of the kernel computes both.
// RUN: %tile_opt %s --convert-linalg-to-tile | FileCheck %s
// CHECK-LABEL: tile.kernel @half(
// CHECK: tile.kernel private @half_with_0(
// CHECK: math.absf
// CHECK: arith.mulf
// CHECK: tile.store {{.*}} {tile.final}
// CHECK-NOT: tile.kernel
// CHECK-LABEL: func.func @two(
// CHECK-COUNT-1: tile.launch
// CHECK-NOT: {{tile.launch|linalg}}
// CHECK: return
tile.kernel @half(%x: memref<?xf32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<16xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<16xf32>
  %a = tile.load %X[%i] : !tile.view<16xf32> -> tensor<16xf32>
  tile.store %a, %Y[%i] {tile.final} : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}
#i = affine_map<(i) -> (i)>
func.func @two(%x: tensor<40xf32>, %s: tensor<40xf32>) -> tensor<40xf32> {
  %e = tensor.empty() : tensor<40xf32>
  %g = tile.group ins(%x, %s, %e : tensor<40xf32>, tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32> {
  ^bb0(%u: tensor<40xf32>, %v: tensor<40xf32>, %w: tensor<40xf32>):
    %c3 = arith.constant 3 : index
    %y = tile.launch @half grid(%c3) ins(%u : tensor<40xf32>) outs(%w : tensor<40xf32>) -> tensor<40xf32>
    %z = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel"]} outs(%y : tensor<40xf32>) {
    ^bb0(%a: f32):
      %0 = math.absf %a : f32
      linalg.yield %0 : f32
    } -> tensor<40xf32>
    %r = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]} ins(%v, %z : tensor<40xf32>, tensor<40xf32>) outs(%w : tensor<40xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<40xf32>
    tile.yield %r : tensor<40xf32>
  }
  return %g : tensor<40xf32>
}
