// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-move-control-flow-to-device{chip=sm_80},canonicalize)' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-move-control-flow-to-device{chip=sm_80 persistent=never},canonicalize)' | FileCheck %s --check-prefix=NEVER
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-move-control-flow-to-device{chip=x86-64-v3},canonicalize)' | FileCheck %s --check-prefix=NEVER
// RUN: not %tile_opt %s --pass-pipeline='builtin.module(tile-move-control-flow-to-device{chip=sm_80 persistent=often})' 2>&1 | FileCheck %s --check-prefix=OFTEN
// RUN: %tile_run %s --target=interpret --seed=1 --out=%t.x.npy --out=%t.y.npy
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-move-control-flow-to-device{chip=sm_80},canonicalize)' -o %t.mlir
// RUN: %tile_run %t.mlir --target=interpret --seed=1 --out=%t.z.npy --out=%t.w.npy
// RUN: cmp %t.x.npy %t.z.npy
// RUN: cmp %t.y.npy %t.w.npy
// RUN: %tile_run %s --target=emulate:sm_80 --persistent=always --seed=1 --out=%t.z.npy --out=%t.w.npy
// RUN: cmp %t.x.npy %t.z.npy
// RUN: cmp %t.y.npy %t.w.npy

// NEVER-NOT: @scalars
// OFTEN: persistent: unknown 'often'; accepts model, always and never

// Two numbers that change places in each round, a condition that looks at memory, a copy, and a branch at the round's
// end whose result the loop carries: its slot is that of the loop.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[x:[^ ]*]]: memref<8xi32>
// CHECK: tile.launch @scalars grid(%c1)
// CHECK: scf.while : () -> () {
// CHECK-NEXT: %[[word:.*]] = memref.load %[[go:.*]][%c0] : memref<1xi32>
// CHECK-NEXT: %[[is:.*]] = arith.cmpi ne, %[[word]], %c0_i32
// CHECK-NEXT: scf.condition(%[[is]])
// CHECK: } do {
// CHECK: tile.launch @half
// CHECK: tile.launch @copy grid(%c1)
// CHECK: tile.launch @scalars_0
// CHECK: memref.load
// CHECK: scf.if
// CHECK-NEXT: tile.launch @half
// CHECK-NEXT: tile.launch @scalars_{{[0-9]+}} {{.*}} outs(
// CHECK: } else {
// CHECK: tile.launch @scalars_{{[0-9]+}} {{.*}} outs(
// CHECK: scf.yield
// CHECK: memref.load
// CHECK: return
func.func @main(%x: memref<8xi32>, %y: memref<8xi32>, %n: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %five = arith.constant 5 : i32
  %twenty = arith.constant 20 : i32
  %true = arith.constant true
  %r:4 = scf.while (%go = %true, %a = %one, %b = %five, %i = %n) : (i1, i32, i32, i32) -> (i1, i32, i32, i32) {
    scf.condition(%go) %go, %a, %b, %i : i1, i32, i32, i32
  } do {
  ^bb0(%go: i1, %a: i32, %b: i32, %i: i32):
    tile.launch @half grid(%c1) ins(%x : memref<8xi32>) outs(%y : memref<8xi32>)
    memref.copy %y, %x : memref<8xi32> to memref<8xi32>
    %v = memref.load %x[%c1] : memref<8xi32>
    %odd = arith.andi %v, %one : i32
    %is = arith.cmpi ne, %odd, %one : i32
    %low = arith.andi %i, %five : i32
    %j = arith.addi %low, %b : i32
    %next:2 = scf.if %is -> (i1, i32) {
      tile.launch @half grid(%c1) ins(%y : memref<8xi32>) outs(%x : memref<8xi32>)
      %k = arith.addi %j, %a : i32
      %more = arith.cmpi slt, %k, %twenty : i32
      memref.store %k, %y[%c0] : memref<8xi32>
      scf.yield %more, %k : i1, i32
    } else {
      %more = arith.cmpi slt, %a, %one : i32
      scf.yield %more, %j : i1, i32
    }
    scf.yield %next#0, %b, %a, %next#1 : i1, i32, i32, i32
  }
  return %r#3 : i32
}
tile.kernel private @half(%x: memref<8xi32>, %y: memref<8xi32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1> : tensor<8xi32>
  %X = tile.view %x : memref<8xi32> to !tile.view<8xi32>
  %Y = tile.view %y : memref<8xi32> to !tile.view<8xi32>
  %t = tile.load %X[%c0] : !tile.view<8xi32> -> tensor<8xi32>
  %h = arith.shrui %t, %one : tensor<8xi32>
  tile.store %h, %Y[%c0] : tensor<8xi32>, !tile.view<8xi32>
  tile.return
}
