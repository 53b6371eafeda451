// The schedule's stages are obeyed, or an error where the loop cannot have them. The option is an upper limit.
// RUN: split-file %s %t
// RUN: %tile_opt %t/obeyed.mlir --pass-pipeline='builtin.module(tile.kernel(tile-pipeline-loops))' | FileCheck %t/obeyed.mlir
// RUN: sed 's/stages = 13/stages = 21/' %t/obeyed.mlir > %t/room.mlir
// RUN: not %tile_opt %t/room.mlir --pass-pipeline='builtin.module(tile.kernel(tile-pipeline-loops))' 2>&1 | FileCheck %t/obeyed.mlir --check-prefix=ROOM
// RUN: %tile_opt %t/room.mlir --pass-pipeline='builtin.module(tile.kernel(tile-pipeline-loops{stages=32}))' | FileCheck %t/obeyed.mlir --check-prefix=LIMIT
// RUN: sed 's/stages = 13/stages = 33/' %t/obeyed.mlir > %t/many.mlir
// RUN: not %tile_opt %t/many.mlir --pass-pipeline='builtin.module(tile.kernel(tile-pipeline-loops))' 2>&1 | FileCheck %t/obeyed.mlir --check-prefix=MANY
// RUN: not %tile_opt %t/dependent.mlir --pass-pipeline='builtin.module(tile.kernel(tile-pipeline-loops))' 2>&1 | FileCheck %t/dependent.mlir
// RUN: not %tile_opt %t/writes.mlir --pass-pipeline='builtin.module(tile.kernel(tile-pipeline-loops))' 2>&1 | FileCheck %t/writes.mlir
// RUN: sed 's/stages = 3/stages = 1/' %t/writes.mlir > %t/one.mlir
// RUN: %tile_opt %t/one.mlir --pass-pipeline='builtin.module(tile.kernel(tile-pipeline-loops))' | FileCheck %t/writes.mlir --check-prefix=ONE

// RUN: %tile_opt %t/branches.mlir --pass-pipeline='builtin.module(tile.kernel(tile-pipeline-loops,tile-plan-shared-memory))' | FileCheck %t/branches.mlir

//--- branches.mlir
// Rings of two branches lie in the same memory, and so do those of loops behind each other: 13 stages take two thirds.
#wide = #tile.layout<reg [8:d1, 8:d0*16], lane [4:d1*8, 8:d0], warp [2:d0*8]>
#rows = #tile.layout<offset [32:d1, 128:d0]>
// CHECK-COUNT-3: tile.alloc at 0 : !buffer
// CHECK-NOT: tile.alloc
// CHECK-COUNT-39: tile.copy_async
tile.kernel @k(%a: memref<?x?xf16>, %n: index, %is: i1)
    attributes {machine = #tile.machine<"sm_80">, warps = 2 : i32, schedule = #tile.schedule<stages = 13>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %As = tile.alloc : !tile.buffer<128x32xf16, #rows, shared>
  %Bs = tile.alloc : !tile.buffer<128x32xf16, #rows, shared>
  %Cs = tile.alloc : !tile.buffer<128x32xf16, #rows, shared>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x32xf16>
  scf.if %is {
    scf.for %k = %c0 to %n step %c1 {
      tile.sync
      %t = tile.copy_async %A[%c0, %k] to %As : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #rows, shared>
      tile.wait %t
      tile.sync
      %x = tile.load %As : !tile.buffer<128x32xf16, #rows, shared> -> tensor<128x32xf16, #wide>
    }
  } else {
    scf.for %k = %c0 to %n step %c1 {
      tile.sync
      %t = tile.copy_async %A[%c1, %k] to %Bs : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #rows, shared>
      tile.wait %t
      tile.sync
      %x = tile.load %Bs : !tile.buffer<128x32xf16, #rows, shared> -> tensor<128x32xf16, #wide>
    }
  }
  scf.for %k = %c0 to %n step %c1 {
    tile.sync
    %t = tile.copy_async %A[%c0, %k] to %Cs : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #rows, shared>
    tile.wait %t
    tile.sync
    %x = tile.load %Cs : !tile.buffer<128x32xf16, #rows, shared> -> tensor<128x32xf16, #wide>
  }
  tile.return
}

//--- obeyed.mlir
#wide = #tile.layout<reg [8:d1, 8:d0*16], lane [4:d1*8, 8:d0], warp [2:d0*8]>
#rows = #tile.layout<offset [32:d1, 128:d0]>
// CHECK: !tile.buffer<128x32xf16, {{.*}}, shared, stages = 13>
// CHECK-COUNT-12: tile.copy_async
// CHECK: scf.for
// LIMIT: !tile.buffer<128x32xf16, {{.*}}, shared, stages = 20>
// ROOM: room.mlir:[[@LINE+9]]:3: error: {{.*}}tile-pipeline-loops: `stages` is 21; rings of at most 20 stages fit the shared memory of sm_80
// MANY: many.mlir:[[@LINE+1]]:1: error: {{.*}}tile-pipeline-loops: `stages` is 33; at most 32 are accepted
tile.kernel @k(%a: memref<?x?xf16>, %n: index)
    attributes {machine = #tile.machine<"sm_80">, warps = 2 : i32, schedule = #tile.schedule<stages = 13>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %As = tile.alloc : !tile.buffer<128x32xf16, #rows, shared>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x32xf16>
  // The line of the loop.
  scf.for %k = %c0 to %n step %c1 {
    tile.sync
    %ta = tile.copy_async %A[%c0, %k] to %As : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #rows, shared>
    tile.wait %ta
    tile.sync
    %x = tile.load %As : !tile.buffer<128x32xf16, #rows, shared> -> tensor<128x32xf16, #wide>
  }
  tile.return
}

//--- dependent.mlir
#wide = #tile.layout<reg [8:d1], lane [2:d1*8, 16:d0]>
#rows = #tile.layout<offset [16:d1, 16:d0]>
tile.kernel @k(%a: memref<?x?xf16>, %next: memref<?xindex>, %n: index)
    attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32, schedule = #tile.schedule<stages = 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %As = tile.alloc : !tile.buffer<16x16xf16, #rows, shared>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<16x16xf16>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%at = %c0) -> (index) {
    tile.sync
    // CHECK: dependent.mlir:[[@LINE+1]]:11: error: {{.*}}tile-pipeline-loops: `stages` is 3; what this copies is known only when the round before was computed, so that it cannot run ahead; 1 is accepted
    %ta = tile.copy_async %A[%c0, %at] to %As : !tile.view<16x16xf16> to !tile.buffer<16x16xf16, #rows, shared>
    tile.wait %ta
    tile.sync
    %x = tile.load %As : !tile.buffer<16x16xf16, #rows, shared> -> tensor<16x16xf16, #wide>
    %after = memref.load %next[%at] : memref<?xindex>
    scf.yield %after : index
  }
  tile.return
}

//--- writes.mlir
#wide = #tile.layout<reg [8:d1], lane [2:d1*8, 16:d0]>
#rows = #tile.layout<offset [16:d1, 16:d0]>
// ONE-NOT: tile.slot
// ONE: tile.store
tile.kernel @k(%a: memref<?x?xf16>, %n: index)
    attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32, schedule = #tile.schedule<stages = 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %As = tile.alloc : !tile.buffer<16x16xf16, #rows, shared>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<16x16xf16>
  // CHECK: writes.mlir:[[@LINE+1]]:3: error: {{.*}}tile-pipeline-loops: `stages` is 3; the loop writes memory that its copies may read, so that no copy runs ahead; 1 is accepted
  scf.for %k = %c0 to %n step %c1 {
    tile.sync
    %ta = tile.copy_async %A[%c0, %k] to %As : !tile.view<16x16xf16> to !tile.buffer<16x16xf16, #rows, shared>
    tile.wait %ta
    tile.sync
    %x = tile.load %As : !tile.buffer<16x16xf16, #rows, shared> -> tensor<16x16xf16, #wide>
    %k1 = arith.addi %k, %c1 : index
    tile.store %x, %A[%c0, %k1] : tensor<16x16xf16, #wide>, !tile.view<16x16xf16>
  }
  tile.return
}
