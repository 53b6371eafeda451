// Loops and branches whose conditions are words of memory: one launch, whose lanes go through segments.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-co-schedule-kernels{chip=sm_80 persistent=always lanes=3},symbol-dce,canonicalize)' -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %tile_run %s --target=interpret --seed=1 --out=%t.h.npy --out=%t.n.npy
// RUN: %tile_run %t.mlir --target=emulate:sm_80 --seed=1 --out=%t.g.npy --out=%t.m.npy --stats=%t.json
// RUN: cmp %t.h.npy %t.g.npy
// RUN: cmp %t.n.npy %t.m.npy
// RUN: FileCheck %s --check-prefix=STATS < %t.json
// RUN: %tile_run %s --target=emulate:gfx942 --persistent=always --seed=1 --out=%t.g.npy --out=%t.m.npy
// RUN: cmp %t.h.npy %t.g.npy
// RUN: cmp %t.n.npy %t.m.npy

// A decision that is published without releasing what stands before it, or seen without acquiring, is a race, and so is
// an item that is not awaited.
// RUN: sed 's/\(tile.atomic_store .*\) release/\1 relaxed/' %t.mlir > %t.store.mlir
// RUN: not %tile_run %t.store.mlir --target=emulate:sm_80 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: sed 's/\(tile.atomic_wait .*\) acquire/\1 relaxed/' %t.mlir > %t.wait.mlir
// RUN: not %tile_run %t.wait.mlir --target=emulate:sm_80 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: %python %S/co_schedule_awaits.py %tile_run %t.mlir 12 | FileCheck %s --check-prefix=EACH
// RACE: race: 
// EACH: awaits: each is needed

// STATS: "launches": 1,
// CHECK-LABEL: func.func @main
// CHECK: tile.launch @program grid(%c3)
// CHECK-NOT: tile.launch
// CHECK: return
// CHECK: tile.kernel private @program
// CHECK-SAME: cooperative

// 45 rounds, each adds its number to all elements and transposes them by tiles; each third round doubles them before.
func.func @main(%h: memref<8x8xi32>, %n: memref<1xi32>) {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %go = memref.alloc() : memref<1xi32>
  %third = memref.alloc() : memref<1xi32>
  %a = memref.alloc() : memref<8x8xi32>
  tile.launch @begin grid(%c1) outs(%n, %go : memref<1xi32>, memref<1xi32>)
  scf.while : () -> () {
    %w = memref.load %go[%c0] : memref<1xi32>
    %c = arith.cmpi ne, %w, %zero : i32
    scf.condition(%c)
  } do {
    tile.launch @turn grid(%c2, %c2) ins(%h, %n : memref<8x8xi32>, memref<1xi32>) outs(%a : memref<8x8xi32>)
    tile.launch @next grid(%c1) outs(%n, %go, %third : memref<1xi32>, memref<1xi32>, memref<1xi32>)
    %w = memref.load %third[%c0] : memref<1xi32>
    %c = arith.cmpi ne, %w, %zero : i32
    scf.if %c {
      tile.launch @double grid(%c1) ins(%a : memref<8x8xi32>) outs(%h : memref<8x8xi32>)
    } else {
      tile.launch @same grid(%c2) ins(%a : memref<8x8xi32>) outs(%h : memref<8x8xi32>)
    }
    scf.yield
  }
  memref.dealloc %go : memref<1xi32>
  memref.dealloc %third : memref<1xi32>
  memref.dealloc %a : memref<8x8xi32>
  return
}
tile.kernel private @begin(%n: memref<1xi32>, %go: memref<1xi32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  memref.store %zero, %n[%c0] : memref<1xi32>
  memref.store %one, %go[%c0] : memref<1xi32>
  tile.return
}
tile.kernel private @next(%n: memref<1xi32>, %go: memref<1xi32>, %third: memref<1xi32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %last = arith.constant 45 : i32
  %before = memref.load %n[%c0] : memref<1xi32>
  %now = arith.addi %before, %one : i32
  %more = arith.cmpi slt, %now, %last : i32
  %go_on = arith.extui %more : i1 to i32
  %rest = arith.remui %now, %three : i32
  %is = arith.cmpi eq, %rest, %one : i32
  %is.i32 = arith.extui %is : i1 to i32
  memref.store %now, %n[%c0] : memref<1xi32>
  memref.store %go_on, %go[%c0] : memref<1xi32>
  memref.store %is.i32, %third[%c0] : memref<1xi32>
  tile.return
}
tile.kernel private @turn(%x: memref<8x8xi32>, %n: memref<1xi32>, %y: memref<8x8xi32>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %q = tile.program_id 1
  %X = tile.view %x : memref<8x8xi32> to !tile.view<4x4xi32>
  %Y = tile.view %y : memref<8x8xi32> to !tile.view<4x4xi32>
  %number = memref.load %n[%c0] : memref<1xi32>
  %numbers = tile.broadcast %number : i32 -> tensor<4x4xi32>
  %t = tile.load %X[%p, %q] : !tile.view<4x4xi32> -> tensor<4x4xi32>
  %s = arith.addi %t, %numbers : tensor<4x4xi32>
  tile.store %s, %Y[%q, %p] : tensor<4x4xi32>, !tile.view<4x4xi32>
  tile.return
}
tile.kernel private @double(%x: memref<8x8xi32>, %y: memref<8x8xi32>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<8x8xi32> to !tile.view<8x8xi32>
  %Y = tile.view %y : memref<8x8xi32> to !tile.view<8x8xi32>
  %t = tile.load %X[%c0, %c0] : !tile.view<8x8xi32> -> tensor<8x8xi32>
  %s = arith.addi %t, %t : tensor<8x8xi32>
  tile.store %s, %Y[%c0, %c0] : tensor<8x8xi32>, !tile.view<8x8xi32>
  tile.return
}
tile.kernel private @same(%x: memref<8x8xi32>, %y: memref<8x8xi32>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %X = tile.view %x : memref<8x8xi32> to !tile.view<4x8xi32>
  %Y = tile.view %y : memref<8x8xi32> to !tile.view<4x8xi32>
  %t = tile.load %X[%p, %c0] : !tile.view<4x8xi32> -> tensor<4x8xi32>
  tile.store %t, %Y[%p, %c0] : tensor<4x8xi32>, !tile.view<4x8xi32>
  tile.return
}
