// Seven unknown extents, each planned for 1024: more nanoseconds than an integer holds. The time is the most that one
// holds, not an overflow.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-construct-tiles{chip=x86-64-v4 ops=products}))' | FileCheck %s
// CHECK: #tile.schedule<kind = "window", {{.*}}time = 9000000000000000000,
func.func @images(%x: tensor<?x?x?x?xf32>, %f: tensor<?x?x?x?xf32>, %y: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %f : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) outs(%y : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}
