// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-co-schedule-kernels{chip=sm_80 persistent=always lanes=6},symbol-dce,canonicalize,cse)' --mlir-print-elementsattrs-with-hex-if-larger=1000 | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(tile-co-schedule-kernels{chip=sm_80 persistent=always lanes=6},symbol-dce,canonicalize,cse)' --mlir-print-elementsattrs-with-hex-if-larger=1000 | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-co-schedule-kernels{chip=sm_80 persistent=never})' | FileCheck %s --check-prefix=APART
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-co-schedule-kernels{chip=x86-64-v4 persistent=always})' | FileCheck %s --check-prefix=APART
// RUN: %tile_run %s --target=interpret --seed=1 --out=%t.i.npy
// RUN: %tile_run %s --target=emulate:sm_80 --persistent=always --seed=1 --check-against=interpret --out=%t.a.npy --stats=%t.json
// RUN: cmp %t.i.npy %t.a.npy
// RUN: FileCheck %s --check-prefix=STATS < %t.json
// RUN: %tile_run %s --target=emulate:gfx942 --persistent=model --seed=1 --out=%t.b.npy
// RUN: cmp %t.i.npy %t.b.npy

// A dependence that lanes do not await is a race, and the emulator finds it.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-co-schedule-kernels{chip=sm_80 persistent=always lanes=6},symbol-dce)' -o %t.mlir
// RUN: %tile_run %t.mlir --target=emulate:sm_80
// RUN: sed '/tile.atomic_wait/d' %t.mlir > %t.weak.mlir
// RUN: not %tile_run %t.weak.mlir --target=emulate:sm_80 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: sed 's/tile.atomic_wait \(.*\) acquire device/tile.atomic_wait \1 relaxed device/' %t.mlir > %t.relaxed.mlir
// RUN: not %tile_run %t.relaxed.mlir --target=emulate:sm_80 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: sed 's/tile.atomic_rmw \(.*\) release device/tile.atomic_rmw \1 relaxed device/' %t.mlir > %t.unreleased.mlir
// RUN: not %tile_run %t.unreleased.mlir --target=emulate:sm_80 2>&1 | FileCheck %s --check-prefix=RACE
// RACE: race
// RUN: sed '/tile.atomic_rmw/d' %t.mlir > %t.silent.mlir
// RUN: not %tile_run %t.silent.mlir --target=emulate:sm_80 2>&1 | FileCheck %s --check-prefix=STUCK
// STUCK: a loop on memory that does not change
// So is each single await of a lane.
// RUN: %python %S/co_schedule_awaits.py %tile_run %t.mlir | FileCheck %s --check-prefix=EACH
// EACH: 7 awaits: each is needed

// Four tasks of two kinds of kernels and three grids, on six lanes. Program (p, q) of the second task needs program (q, p)
// of the first, so programs 0 and 3 are on the lanes that they need, and programs 1 and 2 await one program.
// The last task needs single programs of the second one, and the third as a whole (it is one program).
// Six lanes have records 1 to 11. A record: task, kind, first program, programs, step, counters, further awaits, awaits.
// CHECK: memref.global "private" constant @[[operands:.*]] : memref<16xi64>
// CHECK: memref.global "private" constant @[[plan:.*]] : memref<192xi32> = dense<[
// CHECK-SAME: 1, 4, 6, 8, 10, 11, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0,
// CHECK-SAME: 0, 0, 0, 1, 4, 2, -1, 192, 192, -1, 0, -1, 0, -1, 0, 0, 1, 0, 0, 1, 4, -1, 4, 192, 192, -1, 0, -1, 0, -1, 0, 0,
// CHECK-SAME: 3, 2, 1, 1, 2, -1, -1, 192, 192, 3, 1, 5, 1, -1, 0, 0,
// CHECK-SAME: 0, 0, 1, 1, 4, 2, 1, 192, 192, -1, 0, -1, 0, -1, 0, 0, 1, 0, 1, 1, 4, -1, -1, 192, 192, 0, 1, -1, 0, -1, 0, 0,
// CHECK-SAME: 0, 0, 2, 1, 4, 2, 0, 192, 192, -1, 0, -1, 0, -1, 0, 0, 1, 0, 2, 1, 4, -1, 5, 192, 192, 1, 1, -1, 0, -1, 0, 0,
// CHECK-SAME: 0, 0, 3, 1, 4, 2, -1, 192, 192, -1, 0, -1, 0, -1, 0, 0, 1, 0, 3, 1, 4, -1, -1, 192, 192, -1, 0, -1, 0, -1, 0, 0,
// CHECK-SAME: 2, 1, 0, 1, 1, -1, 3, 192, 192, 2, 4, -1, 0, -1, 0, 0, 3, 2, 0, 1, 2, -1, -1, 192, 192, 3, 1, 4, 1, -1, 0, 0]>
// CHECK-LABEL: func.func @main
// Both temporaries lie in one arena, and the kernel has it as one parameter.
// CHECK: %[[arena:.*]] = memref.alloc() {alignment = 64 : i64} : memref<512xi8>
// CHECK: memref.get_global @[[plan]]
// CHECK: memref.get_global @[[operands]]
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.store %c0_i32
// CHECK: func.call @tessera_arena_slot
// CHECK: tile.launch @[[program:.*]] grid(%c6) {{.*}} outs(%{{.*}}, %[[arena]], %{{.*}} : memref<{{.*}}>, memref<512xi8>, memref<8x8xi32>)
// CHECK-NOT: tile.launch
// CHECK: tile.kernel private @[[program]]({{.*}} attributes {cooperative, warps = 2 : i32}
// What no launch writes is loaded ahead of the awaits.
// CHECK: tile.load
// CHECK: tile.load
// CHECK: tile.atomic_wait {{.*}} acquire device
// CHECK: tile.load
// CHECK: tile.atomic_rmw add {{.*}} release device
// CHECK-NOT: tile.kernel
// APART-COUNT-4: tile.launch
// APART-NOT: cooperative
// STATS: "launches": 1,
func.func @main(%x: memref<8x8xi32>) -> memref<8x8xi32> {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8x8xi32>
  %b = memref.alloc() : memref<8x8xi32>
  %c = memref.alloc() : memref<8x8xi32>
  tile.launch @turn grid(%c2, %c2) ins(%x : memref<8x8xi32>) outs(%a : memref<8x8xi32>)
  tile.launch @turn grid(%c2, %c2) ins(%a : memref<8x8xi32>) outs(%b : memref<8x8xi32>)
  tile.launch @double grid(%c1) ins(%a : memref<8x8xi32>) outs(%c : memref<8x8xi32>)
  tile.launch @turn grid(%c2, %c1) ins(%b : memref<8x8xi32>) outs(%c : memref<8x8xi32>)
  memref.dealloc %a : memref<8x8xi32>
  memref.dealloc %b : memref<8x8xi32>
  return %c : memref<8x8xi32>
}
tile.kernel private @turn(%x: memref<8x8xi32>, %y: memref<8x8xi32>) attributes {warps = 2 : i32} {
  %p = tile.program_id 0
  %q = tile.program_id 1
  %X = tile.view %x : memref<8x8xi32> to !tile.view<4x4xi32>
  %Y = tile.view %y : memref<8x8xi32> to !tile.view<4x4xi32>
  %t = tile.load %X[%p, %q] : !tile.view<4x4xi32> -> tensor<4x4xi32>
  %n = tile.num_programs 1
  %w = arith.index_cast %n : index to i32
  %s = tile.broadcast %w : i32 -> tensor<4x4xi32>
  %u = arith.addi %t, %s : tensor<4x4xi32>
  tile.store %u, %Y[%q, %p] : tensor<4x4xi32>, !tile.view<4x4xi32>
  tile.return
}
tile.kernel private @double(%x: memref<8x8xi32>, %y: memref<8x8xi32>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<8x8xi32> to !tile.view<8x8xi32>
  %Y = tile.view %y : memref<8x8xi32> to !tile.view<8x8xi32>
  %t = tile.load %X[%c0, %c0] : !tile.view<8x8xi32> -> tensor<8x8xi32>
  %u = arith.addi %t, %t : tensor<8x8xi32>
  tile.store %u, %Y[%c0, %c0] : tensor<8x8xi32>, !tile.view<8x8xi32>
  tile.return
}
