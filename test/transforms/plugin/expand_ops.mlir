// RUN: %tile_opt --load-dialect-plugin=%unit/probe_dialect.so %s --split-input-file --verify-diagnostics --tile-expand-ops | FileCheck %s

// What the hook builds replaces the op and its result.
// CHECK-LABEL: tile.kernel @bump
// CHECK: %[[OLD:.*]] = memref.load %{{.*}}[%{{.*}}] : memref<4xi32>
// CHECK: %[[NEW:.*]] = arith.addi %[[OLD]], %{{.*}} : i32
// CHECK: memref.store %[[NEW]]
// CHECK: probe.store %[[OLD]]
// CHECK-NOT: probe.bump
tile.kernel @bump(%x: memref<4xi32>, %y: memref<4xi32>, %v: i32) {
  %old = probe.bump %v, %x : i32, memref<4xi32>
  probe.store %old, %y : i32, memref<4xi32>
  tile.return
}

// Ops without the hook stay.
// CHECK-LABEL: func.func @others
// CHECK: probe.load
func.func @others(%x: memref<4xi32>) -> i32 {
  %a = probe.load %x : memref<4xi32>
  return %a : i32
}

// -----

func.func @endless() {
  // expected-error@+1 {{expands to an op that expands, more than 16 times}}
  probe.endless
  return
}
