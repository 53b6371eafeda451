// An access outside of a buffer is found, though the arena goes on behind it.
// RUN: not %tile_run %s --target=emulate:sm_80 --fusion=time 2>&1 | FileCheck %s
// RUN: not %tile_run %s --target=emulate:gfx942 --fusion=time 2>&1 | FileCheck %s
// RUN: %tile_run %s --entry=inside --target=emulate:sm_80 --fusion=time --stats=%t.json | FileCheck %s --allow-empty --check-prefix=INSIDE
// RUN: FileCheck %s --check-prefix=STATS < %t.json
// CHECK: out of bounds
// INSIDE-NOT: error
// STATS: "intermediate_bytes": {{[1-9]}}
// STATS: "arena_peak_bytes": {{[1-9]}}
// STATS: "arena_least_bytes": {{[1-9]}}
func.func @main(%x: memref<16xf32>) {
  %c20 = arith.constant 20 : index
  call @program(%x, %c20) : (memref<16xf32>, index) -> ()
  return
}
func.func @inside(%x: memref<16xf32>) {
  %c4 = arith.constant 4 : index
  call @program(%x, %c4) : (memref<16xf32>, index) -> ()
  return
}
func.func private @program(%x: memref<16xf32>, %at: index) {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<32xf32>
  %c = memref.alloc() : memref<48xf32>
  tile.launch @fill grid(%c1) ins(%c1 : index) outs(%b : memref<32xf32>)
  tile.launch @small grid(%c1) ins(%at : index) outs(%a : memref<16xf32>)
  tile.launch @add grid(%c1) ins(%a, %b : memref<16xf32>, memref<32xf32>) outs(%x : memref<16xf32>)
  tile.launch @large grid(%c1) ins(%c1 : index) outs(%c : memref<48xf32>)
  memref.dealloc %a : memref<16xf32>
  memref.dealloc %b : memref<32xf32>
  memref.dealloc %c : memref<48xf32>
  return
}
tile.kernel private @fill(%i: index, %y: memref<32xf32>) {
  %v = arith.constant 2.0 : f32
  memref.store %v, %y[%i] : memref<32xf32>
  tile.return
}
tile.kernel private @large(%i: index, %y: memref<48xf32>) {
  %v = arith.constant 2.0 : f32
  memref.store %v, %y[%i] : memref<48xf32>
  tile.return
}
tile.kernel private @small(%i: index, %y: memref<16xf32>) {
  %v = arith.constant 3.0 : f32
  memref.store %v, %y[%i] : memref<16xf32>
  tile.return
}
tile.kernel private @add(%x: memref<16xf32>, %y: memref<32xf32>, %z: memref<16xf32>) {
  %c1 = arith.constant 1 : index
  %v = memref.load %y[%c1] : memref<32xf32>
  memref.store %v, %z[%c1] : memref<16xf32>
  tile.return
}
