// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-co-schedule-kernels{chip=sm_80 remarks=true})' --verify-diagnostics | FileCheck %s
// RUN: not %tile_opt %s --pass-pipeline='builtin.module(tile-co-schedule-kernels{chip=sm_80 persistent=sometimes})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not %tile_opt %s --pass-pipeline='builtin.module(tile-co-schedule-kernels{chip=sm_80 lanes=1000})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LANES
// WORD: persistent: unknown 'sometimes'; accepts model, always and never
// LANES: lanes: 1000; accepts 1 to 256, or 0 for the machine's cores

// CHECK-COUNT-6: tile.launch @{{[kmo]}}
// CHECK-NOT: @program
func.func @apart(%x: memref<8xf32>, %n: index, %y: memref<?xf32>) -> (memref<8xf32>, memref<8xf32>) {
  %c2 = arith.constant 2 : index
  %large = arith.constant 432 : index
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  // expected-remark@+1 {{is not co-scheduled: it fills the machine}}
  tile.launch @k grid(%large) ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  // expected-remark@+1 {{is not co-scheduled: its grid is not known}}
  tile.launch @k grid(%n) ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  // expected-remark@+1 {{is not co-scheduled: it has clusters}}
  tile.launch @k grid(%c2) cluster [2] ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  // expected-remark@+1 {{is not co-scheduled: its kernel is cooperative}}
  tile.launch @meet grid(%c2) ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  // expected-remark@+1 {{is not co-scheduled: an operand's sizes or place are not known}}
  tile.launch @open grid(%c2) ins(%y : memref<?xf32>) outs(%a : memref<8xf32>)
  tile.launch @k grid(%c2) ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
  return %a, %b : memref<8xf32>, memref<8xf32>
}
// Grids that a core would run several programs of at once: fewer launches do not make up for their turns on lanes.
// CHECK-LABEL: @turns
// CHECK-COUNT-2: tile.launch @k
// CHECK-NOT: @program
func.func @turns(%x: memref<8xf32>) {
  %many = arith.constant 324 : index
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  // expected-remark@+1 {{stays with the host: 4000 ns are predicted, 6184 ns as one launch}}
  tile.launch @k grid(%many) ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  tile.launch @k grid(%many) ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  return
}
// CHECK: scf.for
func.func @loops(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-remark@+1 {{is not taken to the device: it does more than launch kernels}}
  scf.for %t = %c0 to %c2 step %c1 {
    %a = memref.alloc() : memref<8xf32>
    tile.launch @k grid(%c2) ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
    memref.dealloc %a : memref<8xf32>
  }
  // expected-remark@+1 {{is not taken to the device: its kernel is cooperative}}
  scf.for %t = %c0 to %c2 step %c1 {
    // expected-remark@+1 {{is not co-scheduled: its kernel is cooperative}}
    tile.launch @meet grid(%c2) ins(%x : memref<8xf32>) outs(%x : memref<8xf32>)
  }
  return
}
tile.kernel private @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  tile.return
}
tile.kernel private @meet(%x: memref<8xf32>, %y: memref<8xf32>) attributes {cooperative} {
  tile.return
}
tile.kernel private @open(%x: memref<?xf32>, %y: memref<8xf32>) {
  tile.return
}
