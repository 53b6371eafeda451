// A tile's layout is an encoding too. Arithmetic that changes the element type keeps it.
// RUN: %tile_opt %s --tile-avoid-upstream-faults | FileCheck %s
#rows = #tile.layout<reg [64:d1], lane [32:d0], warp []>
// CHECK-LABEL: func.func @layout
// CHECK: arith.truncf %{{.*}} : tensor<32x64xf32, #{{.*}}> to tensor<32x64xf16, #{{.*}}>
// CHECK: arith.select %{{.*}} : tensor<32x64xf16, #{{.*}}>
func.func @layout(%a: tensor<32x64xf32, #rows>, %b: tensor<32x64xf16, #rows>, %c: i1) -> tensor<32x64xf16, #rows> {
  %narrow = arith.truncf %a : tensor<32x64xf32, #rows> to tensor<32x64xf16, #rows>
  %r = arith.select %c, %narrow, %b : tensor<32x64xf16, #rows>
  return %r : tensor<32x64xf16, #rows>
}
