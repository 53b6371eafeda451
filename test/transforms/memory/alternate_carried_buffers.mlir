// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-alternate-carried-buffers,canonicalize,cse))' | FileCheck %s

// Even rounds read the first buffer and write the second one. A scalar is carried as before.
// CHECK-LABEL: func.func @even
// CHECK-SAME: %[[n:.*]]: i32
// CHECK: %[[b:.*]] = memref.alloc
// CHECK: %[[a:.*]] = memref.alloc
// CHECK: tile.launch @begin {{.*}} outs(%[[a]]
// CHECK: %[[sum:.*]] = scf.for %[[i:.*]] = %c3 to %c23 step %c10 iter_args(%[[s:.*]] = %[[n]])
// CHECK-NOT: memref.alloc
// CHECK: tile.launch @step {{.*}} ins(%[[a]] {{.*}} outs(%[[b]]
// CHECK: %[[s1:.*]] = arith.addi %[[s]]
// CHECK: %[[next:.*]] = arith.addi %[[i]], %c5
// CHECK: tile.launch @step {{.*}} ins(%[[b]] {{.*}} outs(%[[a]]
// CHECK: %[[s2:.*]] = arith.addi %[[s1]]
// CHECK: scf.yield %[[s2]]
// CHECK: return %[[a]], %[[sum]]
func.func @even(%n: i32) -> (memref<8xi32>, i32) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c23 = arith.constant 23 : index
  %a = memref.alloc() : memref<8xi32>
  tile.launch @begin grid(%c1) outs(%a : memref<8xi32>)
  %r:2 = scf.for %i = %c3 to %c23 step %c5 iter_args(%h = %a, %s = %n) -> (memref<8xi32>, i32) {
    %new = memref.alloc() : memref<8xi32>
    tile.launch @step grid(%c1) ins(%h : memref<8xi32>) outs(%new : memref<8xi32>)
    %k = arith.index_cast %i : index to i32
    %t = arith.addi %s, %k : i32
    scf.yield %new, %t : memref<8xi32>, i32
  }
  return %r#0, %r#1 : memref<8xi32>, i32
}

// The last of an odd number of rounds stands behind the loop. What the caller sees is copied; so is a buffer that two
// values begin with.
// CHECK-LABEL: func.func @odd
// CHECK-SAME: %[[x:.*]]: memref<8xi32>
// CHECK-COUNT-2: memref.copy %[[x]]
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c2 {
// CHECK-COUNT-4: tile.launch @step
// CHECK: }
// CHECK-COUNT-2: tile.launch @step
func.func @odd(%x: memref<8xi32>) -> (memref<8xi32>, memref<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%h = %x, %g = %x) -> (memref<8xi32>, memref<8xi32>) {
    %new = memref.alloc() : memref<8xi32>
    %other = memref.alloc() : memref<8xi32>
    tile.launch @step grid(%c1) ins(%h : memref<8xi32>) outs(%new : memref<8xi32>)
    tile.launch @step grid(%c1) ins(%g : memref<8xi32>) outs(%other : memref<8xi32>)
    scf.yield %new, %other : memref<8xi32>, memref<8xi32>
  }
  return %r#0, %r#1 : memref<8xi32>, memref<8xi32>
}

// Left alone: one round, an unknown number of them, a buffer that goes from place to place.
// CHECK-LABEL: func.func @alone
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (memref<8xi32>)
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (memref<8xi32>, memref<8xi32>)
func.func @alone(%x: memref<8xi32>, %y: memref<8xi32>, %n: index) -> (memref<8xi32>, memref<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> (memref<8xi32>) {
    %new = memref.alloc() : memref<8xi32>
    tile.launch @step grid(%c1) ins(%h : memref<8xi32>) outs(%new : memref<8xi32>)
    scf.yield %new : memref<8xi32>
  }
  %q:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %x, %g = %y) -> (memref<8xi32>, memref<8xi32>) {
    %new = memref.alloc() : memref<8xi32>
    tile.launch @step grid(%c1) ins(%g : memref<8xi32>) outs(%new : memref<8xi32>)
    scf.yield %new, %h : memref<8xi32>, memref<8xi32>
  }
  return %r, %q#1 : memref<8xi32>, memref<8xi32>
}
tile.kernel private @begin(%y: memref<8xi32>) {
  tile.return
}
tile.kernel private @step(%x: memref<8xi32>, %y: memref<8xi32>) {
  tile.return
}
