// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-narrow-indices))' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-narrow-indices))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT
// COUNT: tile-narrow-indices: 2 narrowed

// The scalars' difference is limited to what 32 bits hold; a length that may be any is limited first.
// CHECK-LABEL: tile.kernel @narrowed
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: tile.broadcast %{{.*}} : i32 -> tensor<32x16xi32>
// CHECK: %[[COLUMN:.*]] = tile.iota dim 1 : tensor<32x16xi32>
// CHECK: tile.iota dim 0 : tensor<32x16xi32>
// CHECK: arith.cmpi sle, %[[COLUMN]], %{{.*}} : tensor<32x16xi32>
// CHECK: memref.dim
// CHECK: arith.minsi
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<32x16xi32>
tile.kernel @narrowed(%x: memref<?x?xi32>, %y: memref<32x16xi32>, %n: index) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0> : tensor<32x16xi32>
  %X = tile.view %x : memref<?x?xi32> to !tile.view<32x16xi32>
  %Y = tile.view %y : memref<32x16xi32> to !tile.view<32x16xi32>
  %row0 = arith.muli %i, %c32 : index
  %row = tile.iota dim 0 from %row0 : tensor<32x16xindex>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<32x16xi32>) {
    %t = tile.load %X[%i, %k] : !tile.view<32x16xi32> -> tensor<32x16xi32>
    %col0 = arith.muli %k, %c16 : index
    %col = tile.iota dim 1 from %col0 : tensor<32x16xindex>
    %is = arith.cmpi ule, %col, %row : tensor<32x16xindex>
    %m = arith.select %is, %t, %zero : tensor<32x16xi1>, tensor<32x16xi32>
    %length = memref.dim %x, %c1 : memref<?x?xi32>
    %lengths = tile.broadcast %length : index -> tensor<32x16xindex>
    %has = arith.cmpi ult, %col, %lengths : tensor<32x16xindex>
    %h = arith.select %has, %m, %zero : tensor<32x16xi1>, tensor<32x16xi32>
    %u = arith.addi %s, %h : tensor<32x16xi32>
    scf.yield %u : tensor<32x16xi32>
  }
  tile.store %r, %Y[%c0, %c0] : tensor<32x16xi32>, !tile.view<32x16xi32>
  tile.return
}

// A number from outside may be any, and an unsigned side may be negative: both comparisons stay.
// CHECK-LABEL: tile.kernel @kept
// CHECK-COUNT-2: arith.cmpi {{.*}} : tensor<16xindex>
// CHECK: tile.return
tile.kernel @kept(%y: memref<?xi32>, %low: index) {
  %i = tile.program_id 0
  %one = arith.constant dense<1> : tensor<16xindex>
  %zero = arith.constant dense<0> : tensor<16xi32>
  %ones = arith.constant dense<1> : tensor<16xi32>
  %Y = tile.view %y : memref<?xi32> to !tile.view<16xi32>
  %lows = tile.broadcast %low : index -> tensor<16xindex>
  %at = tile.iota dim 0 from %i : tensor<16xindex>
  %is = arith.cmpi sge, %at, %lows : tensor<16xindex>
  %a = arith.select %is, %ones, %zero : tensor<16xi1>, tensor<16xi32>
  %less = arith.subi %at, %one : tensor<16xindex>
  %has = arith.cmpi ult, %less, %at : tensor<16xindex>
  %b = arith.select %has, %a, %zero : tensor<16xi1>, tensor<16xi32>
  tile.store %b, %Y[%i] : tensor<16xi32>, !tile.view<16xi32>
  tile.return
}
