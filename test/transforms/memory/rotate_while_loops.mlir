// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-rotate-while-loops,canonicalize,cse))' | FileCheck %s
// RUN: %tile_run %s --target=interpret --entry=halve --seed=1 --out=%t.x.npy --out=%t.n.npy
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-rotate-while-loops,canonicalize,cse))' -o %t.mlir
// RUN: %tile_run %t.mlir --target=interpret --entry=halve --seed=1 --out=%t.y.npy --out=%t.m.npy
// RUN: cmp %t.x.npy %t.y.npy
// RUN: cmp %t.n.npy %t.m.npy

// Rounds halve all elements until their sum is small. The question stands at the end of each round, and its copies are
// gone. The result is in the buffer that even rounds begin with.
// CHECK-LABEL: func.func @halve
// CHECK-SAME: %[[x:.*]]: memref<8xi32>
// CHECK: memref.copy %[[x]], %[[first:[^ ]*]] : memref
// CHECK: %[[s:.*]] = memref.alloc() : memref<1xi32>
// CHECK: tile.launch @sum {{.*}} ins(%[[first]] {{.*}} outs(%[[s]]
// CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %c0_i32) : (i1, i32) -> i32 {
// CHECK-NEXT: scf.condition
// CHECK-NEXT: } do {
// CHECK-NOT: memref.alloc
// CHECK: tile.launch @half {{.*}} ins(%[[first]] {{.*}} outs(%[[second:[^ ]*]] :
// CHECK: tile.launch @sum {{.*}} ins(%[[second]]
// CHECK: scf.if
// CHECK: tile.launch @half {{.*}} ins(%[[second]] {{.*}} outs(%[[first]] :
// CHECK: tile.launch @sum {{.*}} ins(%[[first]]
// CHECK: } else {
// CHECK-NEXT: memref.copy %[[second]], %[[first]]
// CHECK: scf.yield %false
// CHECK: return %[[first]]
func.func @halve(%x: memref<8xi32>) -> (memref<8xi32>, i32) {
  %c1 = arith.constant 1 : index
  %c0.i32 = arith.constant 0 : i32
  %c1.i32 = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %r:2 = scf.while (%h = %x, %n = %c0.i32) : (memref<8xi32>, i32) -> (memref<8xi32>, i32) {
    %s = memref.alloc() : memref<1xi32>
    tile.launch @sum grid(%c1) ins(%h : memref<8xi32>) outs(%s : memref<1xi32>)
    %v = memref.load %s[%c0] : memref<1xi32>
    %go = arith.cmpi ugt, %v, %c1.i32 : i32
    %copy = memref.alloc() : memref<8xi32>
    memref.copy %h, %copy : memref<8xi32> to memref<8xi32>
    scf.condition(%go) %copy, %n : memref<8xi32>, i32
  } do {
  ^bb0(%h: memref<8xi32>, %n: i32):
    %new = memref.alloc() : memref<8xi32>
    tile.launch @half grid(%c1) ins(%h : memref<8xi32>) outs(%new : memref<8xi32>)
    %m = arith.addi %n, %c1.i32 : i32
    scf.yield %new, %m : memref<8xi32>, i32
  }
  return %r#0, %r#1 : memref<8xi32>, i32
}

// A buffer that rounds change in place stays one, without a second round.
// CHECK-LABEL: func.func @in_place
// CHECK: %[[a:.*]] = memref.alloc()
// CHECK: memref.copy %{{.*}}, %[[a]]
// CHECK: scf.while {{.*}} : (i1, i32) -> i32
// CHECK: tile.launch @half {{.*}} ins(%[[a]] {{.*}} outs(%[[a]]
// CHECK-NOT: scf.if
// CHECK: return %[[a]]
func.func @in_place(%x: memref<8xi32>, %n: i32) -> memref<8xi32> {
  %c1 = arith.constant 1 : index
  %c1.i32 = arith.constant 1 : i32
  %r:2 = scf.while (%h = %x, %i = %n) : (memref<8xi32>, i32) -> (memref<8xi32>, i32) {
    %go = arith.cmpi sgt, %i, %c1.i32 : i32
    scf.condition(%go) %h, %i : memref<8xi32>, i32
  } do {
  ^bb0(%h: memref<8xi32>, %i: i32):
    tile.launch @half grid(%c1) ins(%h : memref<8xi32>) outs(%h : memref<8xi32>)
    %m = arith.subi %i, %c1.i32 : i32
    scf.yield %h, %m : memref<8xi32>, i32
  }
  return %r#0 : memref<8xi32>
}

// Buffers that change places are left alone. A copy that the question changes stays, in a buffer ahead of the loop.
// CHECK-LABEL: func.func @alone
// CHECK: scf.while {{.*}} : (memref<8xi32>, memref<8xi32>, i1) -> (memref<8xi32>, memref<8xi32>)
// CHECK: memref.copy %{{.*}}, %[[copy:.*]] :
// CHECK: tile.launch @half {{.*}} outs(%[[copy]]
// CHECK: scf.while {{.*}} : (i1) -> ()
// CHECK: return %{{.*}}, %[[copy]]
func.func @alone(%x: memref<8xi32>, %y: memref<8xi32>, %c: i1) -> (memref<8xi32>, memref<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1.i32 = arith.constant 1 : i32
  %false = arith.constant false
  %r:2 = scf.while (%h = %x, %g = %y, %go = %c) : (memref<8xi32>, memref<8xi32>, i1) -> (memref<8xi32>, memref<8xi32>) {
    scf.condition(%go) %h, %g : memref<8xi32>, memref<8xi32>
  } do {
  ^bb0(%h: memref<8xi32>, %g: memref<8xi32>):
    %new = memref.alloc() : memref<8xi32>
    tile.launch @half grid(%c1) ins(%h : memref<8xi32>) outs(%new : memref<8xi32>)
    scf.yield %g, %new, %false : memref<8xi32>, memref<8xi32>, i1
  }
  %q = scf.while (%h = %x) : (memref<8xi32>) -> memref<8xi32> {
    %copy = memref.alloc() : memref<8xi32>
    memref.copy %h, %copy : memref<8xi32> to memref<8xi32>
    tile.launch @half grid(%c1) ins(%copy : memref<8xi32>) outs(%copy : memref<8xi32>)
    %v = memref.load %h[%c0] : memref<8xi32>
    %go = arith.cmpi ugt, %v, %c1.i32 : i32
    scf.condition(%go) %copy : memref<8xi32>
  } do {
  ^bb0(%h: memref<8xi32>):
    %new = memref.alloc() : memref<8xi32>
    tile.launch @half grid(%c1) ins(%h : memref<8xi32>) outs(%new : memref<8xi32>)
    scf.yield %new : memref<8xi32>
  }
  return %r#0, %q : memref<8xi32>, memref<8xi32>
}
tile.kernel private @sum(%x: memref<8xi32>, %s: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<8xi32> to !tile.view<8xi32>
  %t = tile.load %X[%c0] : !tile.view<8xi32> -> tensor<8xi32>
  %r = tile.reduce {arith.addi} %t axes [0] : tensor<8xi32> -> i32
  memref.store %r, %s[%c0] : memref<1xi32>
  tile.return
}
tile.kernel private @half(%x: memref<8xi32>, %y: memref<8xi32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1> : tensor<8xi32>
  %X = tile.view %x : memref<8xi32> to !tile.view<8xi32>
  %Y = tile.view %y : memref<8xi32> to !tile.view<8xi32>
  %t = tile.load %X[%c0] : !tile.view<8xi32> -> tensor<8xi32>
  %h = arith.shrui %t, %one : tensor<8xi32>
  tile.store %h, %Y[%c0] : tensor<8xi32>, !tile.view<8xi32>
  tile.return
}
