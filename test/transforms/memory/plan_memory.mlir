// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile-plan-memory,canonicalize)' | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --pass-pipeline='builtin.module(tile-plan-memory,canonicalize)' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile-plan-memory{slots=true},canonicalize)' | FileCheck %s --check-prefix=SLOTS

// %a is done when %c begins. The view keeps %b in use. What is returned stays.
// CHECK-LABEL: func.func @chain
// CHECK-DAG: %[[zero:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[next:.*]] = arith.constant 256 : index
// CHECK: %[[arena:.*]] = memref.alloc() {alignment = 64 : i64} : memref<512xi8>
// CHECK: %[[a:.*]] = memref.view %[[arena]][%[[zero]]][] : memref<512xi8> to memref<64xf32>
// CHECK: tile.launch @k {{.*}} outs(%[[a]] :
// CHECK: %[[b:.*]] = memref.view %[[arena]][%[[next]]][] : memref<512xi8> to memref<64xf32>
// CHECK: %[[c:.*]] = memref.view %[[arena]][%[[zero]]][] : memref<512xi8> to memref<8x8xf32>
// CHECK: %[[d:.*]] = memref.alloc() : memref<64xf32>
// CHECK-NOT: memref.dealloc %[[a]]
// CHECK: memref.dealloc %[[arena]] : memref<512xi8>
// CHECK-NEXT: return %[[d]]
// SLOTS-LABEL: func.func @chain
// SLOTS: %[[at:.*]] = memref.extract_aligned_pointer_as_index
// SLOTS: call @tessera_arena_slot(%[[at]], %c0, %c256)
// SLOTS-NEXT: tile.launch @k
// SLOTS: call @tessera_arena_slot(%[[at]], %c256, %c256)
// SLOTS-NEXT: tile.launch @k
// SLOTS-NEXT: call @tessera_arena_slot_end(%[[at]], %c0)
func.func @chain(%x: memref<64xf32>) -> memref<64xf32> {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<64xf32>
  tile.launch @k grid(%c1) ins(%x : memref<64xf32>) outs(%a : memref<64xf32>)
  %b = memref.alloc() : memref<64xf32>
  tile.launch @k grid(%c1) ins(%a : memref<64xf32>) outs(%b : memref<64xf32>)
  %v = memref.cast %b : memref<64xf32> to memref<?xf32>
  %c = memref.alloc() : memref<8x8xf32>
  tile.launch @wide grid(%c1) outs(%c : memref<8x8xf32>)
  %w = memref.cast %v : memref<?xf32> to memref<64xf32>
  %d = memref.alloc() : memref<64xf32>
  tile.launch @k grid(%c1) ins(%w : memref<64xf32>) outs(%d : memref<64xf32>)
  memref.dealloc %a : memref<64xf32>
  memref.dealloc %b : memref<64xf32>
  memref.dealloc %c : memref<8x8xf32>
  return %d : memref<64xf32>
}
tile.kernel private @k(%x: memref<64xf32>, %y: memref<64xf32>) {
  tile.return
}
tile.kernel private @wide(%x: memref<8x8xf32>) {
  tile.return
}

// -----

// The loop's own buffer lies behind what is in use around the loop; both branches have one place.
// CHECK-LABEL: func.func @nested
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<128xi8>
// CHECK: scf.for
// CHECK: memref.view %{{.*}}[%c64][]
// CHECK-NOT: memref.alloc
// CHECK: scf.if
// CHECK: memref.view %{{.*}}[%c64][]
// CHECK: } else {
// CHECK: memref.view %{{.*}}[%c64][]
// CHECK-NOT: memref.dealloc
// CHECK: memref.dealloc %{{.*}} : memref<128xi8>
func.func @nested(%n: index, %is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<16xf32>
  tile.launch @one grid(%c1) outs(%a : memref<16xf32>)
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<16xf32>
    tile.launch @one grid(%c1) outs(%b : memref<16xf32>)
    memref.dealloc %b : memref<16xf32>
  }
  scf.if %is {
    %b = memref.alloc() : memref<16xf32>
    tile.launch @one grid(%c1) outs(%b : memref<16xf32>)
    memref.dealloc %b : memref<16xf32>
  } else {
    %b = memref.alloc() : memref<16xf32>
    tile.launch @one grid(%c1) outs(%b : memref<16xf32>)
    memref.dealloc %b : memref<16xf32>
  }
  tile.launch @one grid(%c1) outs(%a : memref<16xf32>)
  memref.dealloc %a : memref<16xf32>
  return
}
tile.kernel private @one(%x: memref<16xf32>) {
  tile.return
}

// -----

// What a loop carries, sizes that are not known, another address space's alignment, and what nobody frees here.
// CHECK-LABEL: func.func @left
// CHECK-NOT: xi8
// CHECK-COUNT-5: memref.alloc
// CHECK-NOT: memref.view
func.func @left(%n: index) -> memref<16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %carried = memref.alloc() : memref<16xf32>
  %open = memref.alloc(%n) : memref<?xf32>
  %aligned = memref.alloc() {alignment = 4096 : i64} : memref<16xf32>
  %given = memref.alloc() : memref<16xf32>
  %kept = memref.alloc() : memref<16xcomplex<f64>>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%m = %carried) -> (memref<16xf32>) {
    tile.launch @one grid(%c1) outs(%given : memref<16xf32>)
    scf.yield %given : memref<16xf32>
  }
  tile.launch @one grid(%c1) outs(%aligned : memref<16xf32>)
  tile.launch @open grid(%c1) outs(%open : memref<?xf32>)
  tile.launch @complex grid(%c1) outs(%kept : memref<16xcomplex<f64>>)
  memref.dealloc %carried : memref<16xf32>
  memref.dealloc %open : memref<?xf32>
  memref.dealloc %aligned : memref<16xf32>
  memref.dealloc %kept : memref<16xcomplex<f64>>
  return %r : memref<16xf32>
}
tile.kernel private @one(%x: memref<16xf32>) {
  tile.return
}
tile.kernel private @open(%x: memref<?xf32>) {
  tile.return
}
tile.kernel private @complex(%x: memref<16xcomplex<f64>>) {
  tile.return
}
