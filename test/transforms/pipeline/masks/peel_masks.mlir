// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-peel-masks))' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-peel-masks))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT
// COUNT: tile-peel-masks: 4 peeled

// Keys up to the diagonal: in rounds whose last key stands left of the first query nothing is compared.
// CHECK-LABEL: tile.kernel @causal
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c32_{{.*}} : index
// CHECK: %[[N:.*]] = arith.addi %{{.*}}, %[[ROW]]
// CHECK: %[[RAISED:.*]] = arith.addi %[[N]], %{{.*}}
// CHECK: %[[CLAMPED:.*]] = arith.maxsi %[[RAISED]]
// CHECK: %[[FIRST:.*]] = arith.divui %[[CLAMPED]]
// CHECK: scf.for %[[K:.*]] = %c0
// CHECK: %[[X:.*]] = tile.load
// CHECK-NEXT: %[[IS:.*]] = arith.cmpi uge, %[[K]], %[[FIRST]]
// CHECK-NEXT: %[[M:.*]] = scf.if %[[IS]]
// CHECK-NEXT: arith.muli %[[K]]
// CHECK-NEXT: tile.iota dim 1
// CHECK-NEXT: arith.cmpi ule
// CHECK-NEXT: arith.select
// CHECK: else
// CHECK-NEXT: scf.yield %[[X]]
// CHECK: arith.addi %{{.*}}, %[[M]] : tensor<32x16xi32>
tile.kernel @causal(%x: memref<?x?xi32>, %y: memref<?x?xi32>, %n: index) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0> : tensor<32x16xi32>
  %X = tile.view %x : memref<?x?xi32> to !tile.view<32x16xi32>
  %Y = tile.view %y : memref<?x?xi32> to !tile.view<32x16xi32>
  %row0 = arith.muli %i, %c32 : index
  %row = tile.iota dim 0 from %row0 : tensor<32x16xindex>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<32x16xi32>) {
    %t = tile.load %X[%i, %k] : !tile.view<32x16xi32> -> tensor<32x16xi32>
    %col0 = arith.muli %k, %c16 : index
    %col = tile.iota dim 1 from %col0 : tensor<32x16xindex>
    %is = arith.cmpi ule, %col, %row : tensor<32x16xindex>
    %m = arith.select %is, %t, %zero : tensor<32x16xi1>, tensor<32x16xi32>
    %u = arith.addi %s, %m : tensor<32x16xi32>
    scf.yield %u : tensor<32x16xi32>
  }
  tile.store %r, %Y[%i, %c0] : tensor<32x16xi32>, !tile.view<32x16xi32>
  tile.return
}

// A length that no one knows may be beyond all bounds: then no round goes past the mask. Two masks are one branch.
// CHECK-LABEL: tile.kernel @two
// CHECK: arith.cmpi ult, %{{.*}}, %{{.*}} : index
// CHECK: %[[FIRST:.*]] = arith.minsi
// CHECK: scf.for
// CHECK: arith.cmpi uge, %{{.*}}, %[[FIRST]] : index
// CHECK-NEXT: scf.if
// CHECK-COUNT-2: arith.select
// CHECK: else
// CHECK-NOT: scf.if
// CHECK: tile.return
tile.kernel @two(%x: memref<?xi32>, %y: memref<?xi32>, %n: index, %length: index) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0> : tensor<16xi32>
  %X = tile.view %x : memref<?xi32> to !tile.view<16xi32>
  %Y = tile.view %y : memref<?xi32> to !tile.view<16xi32>
  %lengths = tile.broadcast %length : index -> tensor<16xindex>
  %ends = tile.broadcast %i : index -> tensor<16xindex>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<16xi32>) {
    %t = tile.load %X[%k] : !tile.view<16xi32> -> tensor<16xi32>
    %col0 = arith.muli %k, %c16 : index
    %col = tile.iota dim 0 from %col0 : tensor<16xindex>
    %is = arith.cmpi sge, %lengths, %col : tensor<16xindex>
    %a = arith.select %is, %t, %zero : tensor<16xi1>, tensor<16xi32>
    %has = arith.cmpi slt, %col, %ends : tensor<16xindex>
    %m = arith.select %has, %a, %zero : tensor<16xi1>, tensor<16xi32>
    %u = arith.addi %s, %m : tensor<16xi32>
    scf.yield %u : tensor<16xi32>
  }
  tile.store %r, %Y[%i] : tensor<16xi32>, !tile.view<16xi32>
  tile.return
}

// Four rounds of 16 of 64: the mask goes. Of 63: one round has it.
// CHECK-LABEL: tile.kernel @known
// CHECK: scf.for
// CHECK-NOT: arith.cmpi
// CHECK: %[[THREE:.*]] = arith.constant 3 : index
// CHECK: scf.for %[[K:.*]] = %c0
// CHECK: arith.cmpi uge, %[[K]], %[[THREE]]
// CHECK-NEXT: scf.if
tile.kernel @known(%x: memref<?xi32>, %y: memref<?xi32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %all = arith.constant dense<64> : tensor<16xindex>
  %some = arith.constant dense<63> : tensor<16xindex>
  %zero = arith.constant dense<0> : tensor<16xi32>
  %X = tile.view %x : memref<?xi32> to !tile.view<16xi32>
  %Y = tile.view %y : memref<?xi32> to !tile.view<16xi32>
  %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (tensor<16xi32>) {
    %t = tile.load %X[%k] : !tile.view<16xi32> -> tensor<16xi32>
    %col0 = arith.muli %k, %c16 : index
    %col = tile.iota dim 0 from %col0 : tensor<16xindex>
    %is = arith.cmpi ult, %col, %all : tensor<16xindex>
    %m = arith.select %is, %t, %zero : tensor<16xi1>, tensor<16xi32>
    %u = arith.addi %s, %m : tensor<16xi32>
    scf.yield %u : tensor<16xi32>
  }
  %q = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %r) -> (tensor<16xi32>) {
    %t = tile.load %X[%k] : !tile.view<16xi32> -> tensor<16xi32>
    %col0 = arith.muli %k, %c16 : index
    %col = tile.iota dim 0 from %col0 : tensor<16xindex>
    %is = arith.cmpi ult, %col, %some : tensor<16xindex>
    %m = arith.select %is, %t, %zero : tensor<16xi1>, tensor<16xi32>
    %u = arith.addi %s, %m : tensor<16xi32>
    scf.yield %u : tensor<16xi32>
  }
  tile.store %q, %Y[%i] : tensor<16xi32>, !tile.view<16xi32>
  tile.return
}

// Nothing changes: a lower end, which holds in the last rounds and not in the first; an unsigned comparison of what may
// be negative.
// CHECK-LABEL: tile.kernel @kept
// CHECK-NOT: scf.if
// CHECK: tile.return
tile.kernel @kept(%x: memref<?xi32>, %y: memref<?xi32>, %n: index, %low: index) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0> : tensor<16xi32>
  %X = tile.view %x : memref<?xi32> to !tile.view<16xi32>
  %Y = tile.view %y : memref<?xi32> to !tile.view<16xi32>
  %lows = tile.broadcast %low : index -> tensor<16xindex>
  %ends = tile.broadcast %i : index -> tensor<16xindex>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<16xi32>) {
    %t = tile.load %X[%k] : !tile.view<16xi32> -> tensor<16xi32>
    %col0 = arith.muli %k, %c16 : index
    %col = tile.iota dim 0 from %col0 : tensor<16xindex>
    %is = arith.cmpi sge, %col, %lows : tensor<16xindex>
    %a = arith.select %is, %t, %zero : tensor<16xi1>, tensor<16xi32>
    %far = arith.addi %col, %lows : tensor<16xindex>
    %has = arith.cmpi ult, %far, %ends : tensor<16xindex>
    %m = arith.select %has, %a, %zero : tensor<16xi1>, tensor<16xi32>
    %u = arith.addi %s, %m : tensor<16xi32>
    scf.yield %u : tensor<16xi32>
  }
  tile.store %r, %Y[%i] : tensor<16xi32>, !tile.view<16xi32>
  tile.return
}
