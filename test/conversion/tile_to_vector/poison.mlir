// RUN: %tile_opt %s --convert-tile-to-vector | FileCheck %s

// Poison may be any value: zero. A masked gather whose `other` is poison reads where its mask is true.

// CHECK-LABEL: func.func {{.*}}@poison
// CHECK-NOT: ub.poison
// CHECK: arith.constant 0.000000e+00 : f32
tile.kernel @poison(%x: memref<?xf32>, %y: memref<?xf32>) {
  %at = tile.iota dim 0 : tensor<64xi32>
  %n = arith.constant dense<40> : tensor<64xi32>
  %m = arith.cmpi slt, %at, %n : tensor<64xi32>
  %p = ub.poison : tensor<64xf32>
  %v = tile.gather %x[%at] mask %m other %p bounds(trap) : memref<?xf32>[tensor<64xi32>] -> tensor<64xf32>
  tile.scatter %v, %y[%at] mask %m bounds(trap) : tensor<64xf32>, memref<?xf32>[tensor<64xi32>]
  tile.return
}
