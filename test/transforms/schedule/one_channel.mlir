// A convolution of one channel along one axis is a product whose k is one step in each element of the window: its
// kernel reads the weights side by side. RUN lines: the kind, then the values on sizes that end inside of a tile.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-generalize-named-ops,tile-construct-tiles{chip=x86-64-v4 ops=products}))' | FileCheck %s
// RUN: %tile_run %s --size=1 --size=258 --target=cpu --check-against=interpret
// RUN: %tile_run %s --size=2 --size=259 --target=cpu --check-against=interpret
// RUN: %tile_run %s --size=2 --size=2003 --target=cpu --check-against=interpret
// CHECK: #[[TILE:.*]] = #tile.schedule<kind = "window"
// CHECK: "reduction", "reduction"]} {{.*}}tile.schedule = #[[TILE]]
func.func @main(%x: tensor<?x?x1xf32>, %w: tensor<256x1x70xf32>) -> tensor<?x?x70xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?x1xf32>
  %length = tensor.dim %x, %c1 : tensor<?x?x1xf32>
  %rest = arith.subi %length, %c256 : index
  %steps = arith.divui %rest, %c128 : index
  %frames = arith.addi %steps, %c1 : index
  %empty = tensor.empty(%n, %frames) : tensor<?x?x70xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?x70xf32>) -> tensor<?x?x70xf32>
  %y = linalg.conv_1d_nwc_wcf {strides = dense<128> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
      ins(%x, %w : tensor<?x?x1xf32>, tensor<256x1x70xf32>) outs(%start : tensor<?x?x70xf32>) -> tensor<?x?x70xf32>
  return %y : tensor<?x?x70xf32>
}
