// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-plan-memory{open=true})' | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(tile-plan-memory{open=true})' | FileCheck %s

// Sizes are computed at the begin, and one call gives all places: %a is done when %c begins, and the loop's own buffer
// is in use in the loop only. The check of each size stays where the buffer was.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[X:.*]]: memref<?xf32>, %[[N:.*]]: index)
// CHECK: %[[A:.*]] = call @tessera_multiply_sizes(%{{.*}}, %[[N]])
// CHECK: %[[B:.*]] = call @tessera_multiply_sizes(%{{.*}}, %{{.*}})
// CHECK: %[[PLACES:.*]]:4 = call @tessera_plan_memory_3(%{{.*}}) {lives = array<i64: 5, 5, 9, 9, 13, 13>}
// CHECK: %[[MEMORY:.*]] = memref.alloc(%[[PLACES]]#3) {alignment = 64 : i64} : memref<?xi8>
// CHECK: call @tessera_check_elements(%[[N]])
// CHECK-NEXT: memref.view %[[MEMORY]][%[[PLACES]]#{{.}}][%[[N]]] : memref<?xi8> to memref<?xf32>
// CHECK: scf.for
// CHECK: memref.view %[[MEMORY]]
// CHECK-NOT: memref.dealloc
// CHECK: memref.view %[[MEMORY]][%[[PLACES]]#{{.}}][] : memref<?xi8> to memref<16xf32>
// CHECK: memref.dealloc %[[MEMORY]]
// CHECK-NEXT: return
func.func @chain(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = memref.alloc(%n) : memref<?xf32>
  tile.launch @open grid(%c1) outs(%a : memref<?xf32>)
  scf.for %i = %c0 to %n step %c1 {
    %m = arith.muli %n, %c2 : index
    %b = memref.alloc(%m) : memref<?xf32>
    tile.launch @open grid(%c1) outs(%b : memref<?xf32>)
    memref.dealloc %b : memref<?xf32>
  }
  %c = memref.alloc() : memref<16xf32>
  tile.launch @one grid(%c1) outs(%c : memref<16xf32>)
  memref.dealloc %a : memref<?xf32>
  memref.dealloc %c : memref<16xf32>
  return
}
tile.kernel private @one(%x: memref<16xf32>) {
  tile.return
}
tile.kernel private @open(%x: memref<?xf32>) {
  tile.return
}

// A size that data says, or that a division by what may be 0 gives, is not known at the begin: the others are planned
// when the program is compiled.
// CHECK-LABEL: func.func @data
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<64xi8>
// CHECK-NOT: tessera_plan_memory
// CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: return
func.func @data(%x: memref<4xindex>, %n: index) {
  %c1 = arith.constant 1 : index
  %count = memref.load %x[%c1] : memref<4xindex>
  %part = arith.divui %c1, %n : index
  %a = memref.alloc(%count) : memref<?xf32>
  %b = memref.alloc(%part) : memref<?xf32>
  %c = memref.alloc() : memref<16xf32>
  tile.launch @open grid(%c1) outs(%a : memref<?xf32>)
  tile.launch @open grid(%c1) outs(%b : memref<?xf32>)
  tile.launch @one grid(%c1) outs(%c : memref<16xf32>)
  memref.dealloc %a : memref<?xf32>
  memref.dealloc %b : memref<?xf32>
  memref.dealloc %c : memref<16xf32>
  return
}
