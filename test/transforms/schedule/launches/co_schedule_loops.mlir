// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-co-schedule-kernels{chip=sm_80 persistent=always lanes=3},symbol-dce,canonicalize,cse)' | FileCheck %s
// RUN: %tile_run %s --target=interpret --seed=1 --out=%t.x.npy --out=%t.i.npy
// RUN: %tile_run %s --target=emulate:sm_80 --persistent=always --seed=1 --out=%t.x.npy --out=%t.a.npy --stats=%t.json
// RUN: cmp %t.i.npy %t.a.npy
// RUN: FileCheck %s --check-prefix=STATS < %t.json
// RUN: %tile_run %s --entry=empty --target=emulate:sm_80 --persistent=always --check-against=interpret
// RUN: %tile_run %s --target=emulate:gfx942 --persistent=model --seed=1 --out=%t.x.npy --out=%t.b.npy
// RUN: cmp %t.i.npy %t.b.npy

// A round that does not wait for the round before is a race, and the emulator finds it. So is each other await.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-co-schedule-kernels{chip=sm_80 persistent=always lanes=3},symbol-dce)' -o %t.mlir
// RUN: %tile_run %t.mlir --target=emulate:sm_80
// RUN: %python %S/co_schedule_awaits.py %tile_run %t.mlir | FileCheck %s --check-prefix=EACH
// EACH: 3 awaits: each is needed
// A count that is never reached ends the run.
// RUN: sed 's/, 80, 80, 0, 3,/, 80, 80, 0, 4,/' %t.mlir > %t.stuck.mlir
// RUN: not %tile_run %t.stuck.mlir --target=emulate:sm_80 2>&1 | FileCheck %s --check-prefix=STUCK
// STUCK: a loop on memory that does not change

// A carried sum: round t adds row t of x to h, and doubles it. Lanes 1 and 2 await the second task in the round
// before (1, -1), which lane 0 has done itself. The second task awaits the three items of the first one: (0, 3), for lane 0 has two programs of
// it. The row, the second operand of the first task, begins 256 bytes later in each round.
// CHECK: memref.global "private" constant @{{.*}} : memref<32xi64> = dense<[1, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 256, 0, 0,
// CHECK: memref.global "private" constant @[[plan:.*]] : memref<80xi32> = dense<[1, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
// CHECK-SAME: 0, 0, 0, 2, 3, 0, -1, 80, 80, -1, 0, -1, 0, -1, 0, 0, 1, 1, 0, 1, 1, 1, -1, 80, 80, 0, 3, -1, 0, -1, 0, 0,
// CHECK-SAME: 0, 0, 1, 1, 3, 0, -1, 80, 80, 1, -1, -1, 0, -1, 0, 0, 0, 0, 2, 1, 3, 0, -1, 80, 80, 1, -1, -1, 0, -1, 0, 0]>
// CHECK-LABEL: func.func @main
// CHECK: tile.launch @[[program:.*]] grid(%c3)
// CHECK-NOT: tile.launch
// CHECK: return
// CHECK: tile.kernel private @[[program]]({{.*}} attributes {cooperative, warps = 2 : i32}
// CHECK: scf.for %{{.*}} = %c0 to
// STATS: "launches": 1,
func.func @main(%x: memref<16x8x8xi32>, %h: memref<8x8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c14 = arith.constant 14 : index
  %a = memref.alloc() : memref<8x8xi32>
  scf.for %t = %c2 to %c14 step %c3 {
    %row = memref.subview %x[%t, 0, 0] [1, 8, 8] [1, 1, 1] : memref<16x8x8xi32> to memref<8x8xi32, strided<[8, 1], offset: ?>>
    tile.launch @turn grid(%c2, %c2) ins(%h, %row : memref<8x8xi32>, memref<8x8xi32, strided<[8, 1], offset: ?>>) outs(%a : memref<8x8xi32>)
    tile.launch @double grid(%c1) ins(%a : memref<8x8xi32>) outs(%h : memref<8x8xi32>)
  }
  memref.dealloc %a : memref<8x8xi32>
  return
}
// Nobody counts what has no programs: the last launch awaits the first one's.
func.func @empty(%h: memref<8x8xi32>) -> memref<8x8xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8x8xi32>
  %b = memref.alloc() : memref<8x8xi32>
  tile.launch @double grid(%c1) ins(%h : memref<8x8xi32>) outs(%a : memref<8x8xi32>)
  tile.launch @double grid(%c0) ins(%b : memref<8x8xi32>) outs(%a : memref<8x8xi32>)
  tile.launch @double grid(%c1) ins(%a : memref<8x8xi32>) outs(%b : memref<8x8xi32>)
  memref.dealloc %a : memref<8x8xi32>
  return %b : memref<8x8xi32>
}
tile.kernel private @turn(%x: memref<8x8xi32>, %r: memref<8x8xi32, strided<[8, 1], offset: ?>>, %y: memref<8x8xi32>) attributes {warps = 2 : i32} {
  %p = tile.program_id 0
  %q = tile.program_id 1
  %X = tile.view %x : memref<8x8xi32> to !tile.view<4x4xi32>
  %R = tile.view %r : memref<8x8xi32, strided<[8, 1], offset: ?>> to !tile.view<4x4xi32>
  %Y = tile.view %y : memref<8x8xi32> to !tile.view<4x4xi32>
  %t = tile.load %X[%p, %q] : !tile.view<4x4xi32> -> tensor<4x4xi32>
  %u = tile.load %R[%q, %p] : !tile.view<4x4xi32> -> tensor<4x4xi32>
  %s = arith.addi %t, %u : tensor<4x4xi32>
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
