// Effects stated by rows let upstream's CSE and canonicalization do what is right, and no more.
// RUN: %unit/probe_opt_test %s --pass-pipeline='builtin.module(func.func(cse,canonicalize))' | FileCheck %s

// CHECK-LABEL: @merges
func.func @merges(%m: memref<4xf32>, %a: i32) -> (f32, f32, i32, i32) {
  // CHECK: %[[SUM:.*]] = probe.add
  // CHECK: %[[LOAD:.*]] = probe.load
  // CHECK-NEXT: return %[[LOAD]], %[[LOAD]], %[[SUM]], %[[SUM]]
  %0 = probe.add %a, %a : i32
  %1 = probe.add %a, %a : i32
  %2 = probe.load %m : memref<4xf32>
  %3 = probe.load %m : memref<4xf32>
  return %2, %3, %0, %1 : f32, f32, i32, i32
}

// CHECK-LABEL: @keeps
func.func @keeps(%m: memref<4xf32>, %v: f32) -> (f32, f32) {
  // CHECK: %[[A:.*]] = probe.load
  // CHECK-NEXT: probe.store
  // CHECK-NEXT: %[[B:.*]] = probe.load
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = probe.load %m : memref<4xf32>
  probe.store %v, %m : f32, memref<4xf32>
  %1 = probe.load %m : memref<4xf32>
  return %0, %1 : f32, f32
}

// Unused: a pure op, a read and an allocation vanish, a write and an op of unknown effects stay.
// CHECK-LABEL: @unused
func.func @unused(%m: memref<4xf32>, %v: f32) {
  // CHECK-NEXT: probe.store
  // CHECK-NEXT: probe.options
  // CHECK-NEXT: return
  %0 = probe.add %v, %v : f32
  %1 = probe.load %m : memref<4xf32>
  %2 = probe.make : i32
  probe.store %v, %m : f32, memref<4xf32>
  probe.options
  return
}
