// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-fix-branch-buffers,canonicalize,cse))' | FileCheck %s

// What a branch makes is the buffer ahead; what it only passes on is copied. Scalars are given as before.
// CHECK-LABEL: func.func @given
// CHECK-SAME: %[[x:.*]]: memref<8xi32>, %[[c:.*]]: i1, %[[n:.*]]: i32
// CHECK: %[[r:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8xi32>
// CHECK: %[[s:.*]] = arith.select %[[c]], %[[n]], %c7
// CHECK: scf.if %[[c]] {
// CHECK-NOT: memref.alloc
// CHECK: tile.launch @step {{.*}} ins(%[[x]] {{.*}} outs(%[[r]]
// CHECK: } else {
// CHECK: memref.copy %[[x]], %[[r]]
// CHECK: return %[[r]], %[[s]]
func.func @given(%x: memref<8xi32>, %c: i1, %n: i32) -> (memref<8xi32>, i32) {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : i32
  %r:2 = scf.if %c -> (memref<8xi32>, i32) {
    %new = memref.alloc() : memref<8xi32>
    tile.launch @step grid(%c1) ins(%x : memref<8xi32>) outs(%new : memref<8xi32>)
    scf.yield %new, %n : memref<8xi32>, i32
  } else {
    scf.yield %x, %c7 : memref<8xi32>, i32
  }
  return %r#0, %r#1 : memref<8xi32>, i32
}

// A buffer that is given twice is copied twice.
// CHECK-LABEL: func.func @twice
// CHECK: scf.if
// CHECK: %[[new:.*]] = memref.alloc()
// CHECK: tile.launch @step {{.*}} outs(%[[new]]
// CHECK-COUNT-2: memref.copy %[[new]]
// CHECK: } else {
// CHECK-NOT: memref.copy
// CHECK: return
func.func @twice(%x: memref<8xi32>, %c: i1) -> (memref<8xi32>, memref<8xi32>) {
  %c1 = arith.constant 1 : index
  %r:2 = scf.if %c -> (memref<8xi32>, memref<8xi32>) {
    %new = memref.alloc() : memref<8xi32>
    tile.launch @step grid(%c1) ins(%x : memref<8xi32>) outs(%new : memref<8xi32>)
    scf.yield %new, %new : memref<8xi32>, memref<8xi32>
  } else {
    %a = memref.alloc() : memref<8xi32>
    %b = memref.alloc() : memref<8xi32>
    tile.launch @step grid(%c1) ins(%x : memref<8xi32>) outs(%a : memref<8xi32>)
    tile.launch @step grid(%c1) ins(%a : memref<8xi32>) outs(%b : memref<8xi32>)
    scf.yield %a, %b : memref<8xi32>, memref<8xi32>
  }
  return %r#0, %r#1 : memref<8xi32>, memref<8xi32>
}

// Left alone: no launches, unknown sizes.
// CHECK-LABEL: func.func @alone
// CHECK: arith.select {{.*}} : memref<8xi32>
// CHECK: scf.if %{{.*}} -> (memref<?xi32>)
func.func @alone(%x: memref<8xi32>, %y: memref<8xi32>, %z: memref<?xi32>, %c: i1) -> (memref<8xi32>, memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.if %c -> (memref<8xi32>) {
    scf.yield %x : memref<8xi32>
  } else {
    scf.yield %y : memref<8xi32>
  }
  %n = memref.dim %z, %c0 : memref<?xi32>
  %q = scf.if %c -> (memref<?xi32>) {
    %new = memref.alloc(%n) : memref<?xi32>
    tile.launch @open grid(%c1) ins(%z : memref<?xi32>) outs(%new : memref<?xi32>)
    scf.yield %new : memref<?xi32>
  } else {
    scf.yield %z : memref<?xi32>
  }
  return %r, %q : memref<8xi32>, memref<?xi32>
}
tile.kernel private @step(%x: memref<8xi32>, %y: memref<8xi32>) {
  tile.return
}
tile.kernel private @open(%x: memref<?xi32>, %y: memref<?xi32>) {
  tile.return
}
