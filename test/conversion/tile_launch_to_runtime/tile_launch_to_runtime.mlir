// RUN: %tile_opt %s --split-input-file --convert-tile-launch-to-runtime | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --pass-pipeline='builtin.module(convert-tile-launch-to-runtime)' | FileCheck %s

// Slots stand at the function's entry, not in the loop; then the call. The third grid size is 1.
// CHECK: llvm.func @tessera_launch(!llvm.ptr, !llvm.ptr, i64)
// CHECK-LABEL: func.func @main
// CHECK: llvm.alloca
// CHECK: llvm.alloca
// CHECK: scf.for
// CHECK-NOT: llvm.alloca
// CHECK: builtin.unrealized_conversion_cast %{{.*}} : memref<?xf32> to !llvm.struct
// CHECK: %[[f:.*]] = func.constant @k
// CHECK: %[[p:.*]] = builtin.unrealized_conversion_cast %[[f]]
// CHECK: llvm.call @tessera_launch(%[[p]], %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK-NOT: tile.launch
func.func @main(%m: memref<?xf32>, %s: f32, %i: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %j = %c0 to %n step %c1 {
    tile.launch @k grid(%n, %i) ins(%s, %i : f32, index) outs(%m : memref<?xf32>)
  }
  return
}
func.func private @k(%args: !llvm.ptr, %begin: i64, %end: i64)

// -----

// Without a launch nothing is declared.
// CHECK-LABEL: module
// CHECK-NOT: tessera_launch
// CHECK: func.func @no_launch
func.func @no_launch() {
  return
}

// -----

// A module that has the runtime's function already keeps the one it has.
// CHECK-COUNT-1: llvm.func @tessera_launch
// CHECK-NOT: llvm.func @tessera_launch
func.func @again(%m: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @k grid(%c1) outs(%m : memref<?xf32>)
  return
}
func.func private @k(%args: !llvm.ptr, %begin: i64, %end: i64)
llvm.func @tessera_launch(!llvm.ptr, !llvm.ptr, i64)
