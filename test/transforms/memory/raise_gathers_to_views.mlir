// RUN: %tile_opt %s --tile-raise-gathers-to-views --split-input-file --verify-diagnostics | FileCheck %s

// The mask is the view's size; the host checks that nothing wraps and that the view lies in its memory.
// CHECK-LABEL: tile.kernel private @add(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[N:.*]]: i32, %[[Y:.*]]: memref<?xf32>
// CHECK: %[[PID:.*]] = tile.program_id 0
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK: memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[SIZE]]], strides: [1]
// CHECK: tile.load %{{.*}}[%[[PID]]] : !tile.view<64xf32, pad = neg_inf>
// CHECK: tile.store %{{.*}}[%[[PID]]]
// CHECK-LABEL: tile.kernel private @add_gathers
// CHECK: tile.gather
// CHECK: tile.scatter
// CHECK-LABEL: func.func @launch
// CHECK: memref.dim
// CHECK: scf.if
// CHECK-NEXT: tile.launch @add grid
// CHECK: else
// CHECK-NEXT: tile.launch @add_gathers grid
tile.kernel private @add(%x: memref<?xf32>, %n: i32, %y: memref<?xf32>) {
  %c64 = arith.constant 64 : i32
  %low = arith.constant dense<0xFF800000> : tensor<64xf32>
  %p = tile.program_id 0
  %i = arith.index_cast %p : index to i32
  %first = arith.muli %i, %c64 : i32
  %f = tile.broadcast %first : i32 -> tensor<64xi32>
  %r = tile.iota dim 0 : tensor<64xi32>
  %at = arith.addi %f, %r : tensor<64xi32>
  %nn = tile.broadcast %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %at, %nn : tensor<64xi32>
  %k = arith.index_cast %at : tensor<64xi32> to tensor<64xindex>
  %v = tile.gather %x[%k] mask %m other %low bounds(trap) : memref<?xf32>[tensor<64xindex>] -> tensor<64xf32>
  tile.scatter %v, %y[%k] mask %m bounds(trap) : tensor<64xf32>, memref<?xf32>[tensor<64xindex>]
  tile.return
}
func.func @launch(%x: memref<?xf32>, %y: memref<?xf32>, %n: i32, %g: index) {
  tile.launch @add grid(%g) ins(%x, %n : memref<?xf32>, i32) outs(%y : memref<?xf32>)
  return
}

// -----

// A pointer that a loop moves becomes an offset by its counter, and is carried no longer; rows modulo M keep their index tile.
// The launch checks that no remainder is of a negative number: it needs no sign, and lies below M then.
// CHECK-LABEL: tile.kernel private @moves(
// CHECK: arith.remui %{{.*}}, %{{.*}} : tensor<8xi32>
// CHECK: scf.for %[[K:.*]] = %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<8x4xf32>) {
// CHECK: %[[AT:.*]] = arith.muli %[[K]], %c4 : index
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[AT]]], sizes: [%{{.*}}, 4], strides: [%{{.*}}, 1]
// CHECK: tile.gather %{{.*}}[%{{.*}}, %c0] bounds(drop) : !tile.view<8x4xf32>[tensor<8xi32>, index]
tile.kernel private @moves(%x: memref<?xf32>, %m: i32, %stride: i32, %n: index, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %four = arith.constant dense<4> : tensor<8x4xindex>
  %r = tile.iota dim 0 : tensor<8xi32>
  %mm = tile.broadcast %m : i32 -> tensor<8xi32>
  %rows = arith.remsi %r, %mm : tensor<8xi32>
  %ss = tile.broadcast %stride : i32 -> tensor<8xi32>
  %ro = arith.muli %rows, %ss : tensor<8xi32>
  %ri = arith.index_cast %ro : tensor<8xi32> to tensor<8xindex>
  %rb = tile.broadcast %ri axes [1] : tensor<8xindex> -> tensor<8x4xindex>
  %c = tile.iota dim 1 : tensor<8x4xindex>
  %at = arith.addi %rb, %c : tensor<8x4xindex>
  %s:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero, %p = %at) -> (tensor<8x4xf32>, tensor<8x4xindex>) {
    %v = tile.gather %x[%p] bounds(trap) : memref<?xf32>[tensor<8x4xindex>] -> tensor<8x4xf32>
    %b = arith.addf %a, %v : tensor<8x4xf32>
    %q = arith.addi %p, %four : tensor<8x4xindex>
    scf.yield %b, %q : tensor<8x4xf32>, tensor<8x4xindex>
  }
  %oi = tile.iota dim 1 : tensor<8x4xindex>
  %o4 = tile.iota dim 0 : tensor<8x4xindex>
  %om = arith.muli %o4, %four : tensor<8x4xindex>
  %o = arith.addi %om, %oi : tensor<8x4xindex>
  tile.scatter %s#0, %y[%o] bounds(trap) : tensor<8x4xf32>, memref<?xf32>[tensor<8x4xindex>]
  tile.return
}
func.func @launch(%x: memref<?xf32>, %y: memref<?xf32>, %m: i32, %s: i32, %n: index, %g: index) {
  tile.launch @moves grid(%g) ins(%x, %m, %s, %n : memref<?xf32>, i32, i32, index) outs(%y : memref<?xf32>)
  return
}

// -----

// What stays, and why.
// CHECK-LABEL: tile.kernel private @stays
// CHECK-NOT: tile.view
tile.kernel private @stays(%x: memref<?xf32>, %at: memref<?xi32>, %y: memref<?xf32>) {
  %r = tile.iota dim 0 : tensor<64xindex>
  %two = arith.constant dense<2> : tensor<64xindex>
  %half = arith.divsi %r, %two : tensor<64xindex>
  // expected-remark @+1 {{stays: an op makes it whose places are not known}}
  %v = tile.gather %x[%half] bounds(trap) : memref<?xf32>[tensor<64xindex>] -> tensor<64xf32>
  %c0 = arith.constant 0 : index
  %i = memref.load %at[%c0] : memref<?xi32>
  %ii = arith.index_cast %i : i32 to index
  %b = tile.broadcast %ii : index -> tensor<64xindex>
  %k = arith.addi %b, %r : tensor<64xindex>
  // expected-remark @+1 {{stays: it depends on what the host does not know}}
  %w = tile.gather %x[%k] bounds(trap) : memref<?xf32>[tensor<64xindex>] -> tensor<64xf32>
  %m = arith.cmpf olt, %v, %w : tensor<64xf32>
  // expected-remark @+1 {{stays: its mask is more than limits of coordinates}}
  tile.scatter %w, %y[%r] mask %m bounds(trap) : tensor<64xf32>, memref<?xf32>[tensor<64xindex>]
  tile.return
}
func.func @launch(%x: memref<?xf32>, %at: memref<?xi32>, %y: memref<?xf32>, %g: index) {
  tile.launch @stays grid(%g) ins(%x, %at : memref<?xf32>, memref<?xi32>) outs(%y : memref<?xf32>)
  return
}

// -----

// A public kernel may be launched by others, who check nothing.
// CHECK-LABEL: tile.kernel @public
// CHECK: tile.gather
tile.kernel @public(%x: memref<?xf32>, %y: memref<?xf32>) {
  %r = tile.iota dim 0 : tensor<64xindex>
  %v = tile.gather %x[%r] bounds(trap) : memref<?xf32>[tensor<64xindex>] -> tensor<64xf32>
  tile.scatter %v, %y[%r] bounds(trap) : tensor<64xf32>, memref<?xf32>[tensor<64xindex>]
  tile.return
}
func.func @launch(%x: memref<?xf32>, %y: memref<?xf32>, %g: index) {
  tile.launch @public grid(%g) ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// -----

// A place that is not below 0 in any instance is no limit of its own: the launch checks the first. So is a loop's
// place. With a halo the first is below 0, and the access stays; the others do not suffer.
// CHECK-LABEL: tile.kernel private @floors
// CHECK: %[[X:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%{{.*}}], strides: [1]
// CHECK: scf.for %[[K:.*]] =
// CHECK: tile.load %{{.*}}[%{{.*}}]
// CHECK-NOT: tile.gather
// CHECK: tile.store
// CHECK: tile.gather
tile.kernel private @floors(%x: memref<?xf32>, %n: index, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0> : tensor<64xindex>
  %one = arith.constant dense<1> : tensor<64xindex>
  %start = arith.constant dense<0.0> : tensor<64xf32>
  %p = tile.program_id 0
  %r = tile.iota dim 0 : tensor<64xindex>
  %sizes = tile.broadcast %n : index -> tensor<64xindex>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %start) -> tensor<64xf32> {
    %f = arith.muli %k, %c64 : index
    %fb = tile.broadcast %f : index -> tensor<64xindex>
    %at = arith.addi %fb, %r : tensor<64xindex>
    %low = arith.cmpi sge, %at, %zero : tensor<64xindex>
    %high = arith.cmpi slt, %at, %sizes : tensor<64xindex>
    %m = arith.andi %low, %high : tensor<64xi1>
    %v = tile.gather %x[%at] mask %m other %start bounds(trap) : memref<?xf32>[tensor<64xindex>] -> tensor<64xf32>
    %t = arith.addf %s, %v : tensor<64xf32>
    scf.yield %t : tensor<64xf32>
  }
  %g = arith.muli %p, %c64 : index
  %gb = tile.broadcast %g : index -> tensor<64xindex>
  %to = arith.addi %r, %gb : tensor<64xindex>
  %low2 = arith.cmpi sle, %zero, %to : tensor<64xindex>
  %high2 = arith.cmpi slt, %to, %sizes : tensor<64xindex>
  %m2 = arith.andi %high2, %low2 : tensor<64xi1>
  tile.scatter %sum, %y[%to] mask %m2 bounds(trap) : tensor<64xf32>, memref<?xf32>[tensor<64xindex>]
  %halo = arith.subi %to, %one : tensor<64xindex>
  %low3 = arith.cmpi sge, %halo, %zero : tensor<64xindex>
  %high3 = arith.cmpi slt, %halo, %sizes : tensor<64xindex>
  %m3 = arith.andi %low3, %high3 : tensor<64xi1>
  // expected-remark @+1 {{stays: its mask is more than limits of coordinates}}
  %h = tile.gather %x[%halo] mask %m3 other %start bounds(trap) : memref<?xf32>[tensor<64xindex>] -> tensor<64xf32>
  %twice = arith.addf %h, %h : tensor<64xf32>
  tile.scatter %twice, %y[%to] mask %m2 bounds(trap) : tensor<64xf32>, memref<?xf32>[tensor<64xindex>]
  tile.return
}
// CHECK-LABEL: func.func @launch
// CHECK: arith.cmpi sge, %{{.*}}
// CHECK: scf.if
func.func @launch(%x: memref<?xf32>, %n: index, %y: memref<?xf32>, %g: index) {
  tile.launch @floors grid(%g) ins(%x, %n : memref<?xf32>, index) outs(%y : memref<?xf32>)
  return
}
