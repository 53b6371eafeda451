// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(buffer-loop-hoisting,tile-keep-own-frees,ownership-based-buffer-deallocation,canonicalize,buffer-deallocation-simplification),bufferization-lower-deallocations)' | FileCheck %s
// RUN: %tile_run %s --seed=1 --check-against=interpret | FileCheck %s --check-prefix=JUDGE
// RUN: %tile_run %s --target=emulate:sm_80 --fusion=time --persistent=always --seed=1 --check-against=interpret | FileCheck %s --check-prefix=JUDGE

// Upstream hoists %t out of the loop and leaves the free in it: from the second round on it would be freed memory.
// CHECK-LABEL: func.func @main
// CHECK: memref.alloc() : memref<8xf32>
// CHECK: scf.for
// CHECK: %[[u:.*]] = memref.alloc(
// CHECK-NOT: memref.dealloc %{{.*}} : memref<8xf32>
// CHECK: memref.dealloc %[[u]]
// CHECK-NOT: memref.dealloc %{{.*}} : memref<8xf32>
// CHECK: }
// CHECK: memref.dealloc %{{.*}} : memref<8xf32>
// JUDGE: argument 0: right
func.func @main(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %t = memref.alloc() : memref<8xf32>
    %size = arith.addi %i, %c1 : index
    %u = memref.alloc(%size) : memref<?xf32>
    %v = memref.load %x[%i] : memref<8xf32>
    memref.store %v, %t[%i] : memref<8xf32>
    %w = memref.load %t[%i] : memref<8xf32>
    memref.store %w, %u[%i] : memref<?xf32>
    %y = memref.load %u[%i] : memref<?xf32>
    memref.store %y, %x[%c0] : memref<8xf32>
    memref.dealloc %u : memref<?xf32>
    memref.dealloc %t : memref<8xf32>
  }
  return
}
