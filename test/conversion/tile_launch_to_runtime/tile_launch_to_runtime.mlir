// RUN: %tile_opt %s --split-input-file --convert-tile-launch-to-runtime | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --pass-pipeline='builtin.module(convert-tile-launch-to-runtime)' | FileCheck %s

// Slots stand at the function's entry, not in the loop; then the call. The third grid size is 1.
// CHECK: llvm.func @tessera_launch(!llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
// CHECK: llvm.mlir.global internal constant @tessera_name_of_k("k\00")
// CHECK-LABEL: func.func @main
// CHECK: llvm.alloca
// CHECK: llvm.alloca
// CHECK: scf.for
// CHECK-NOT: llvm.alloca
// CHECK: builtin.unrealized_conversion_cast %{{.*}} : memref<?xf32> to !llvm.struct
// CHECK: %[[fits:.*]] = arith.cmpi sle, %{{.*}}, %c2147483647
// CHECK: cf.assert %[[fits]], "a grid has at most 2147483647 programs along an axis"
// CHECK: %[[f:.*]] = func.constant @k
// CHECK: %[[p:.*]] = builtin.unrealized_conversion_cast %[[f]]
// CHECK: llvm.call @tessera_launch(%[[p]], %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
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

// Three sizes that are each small enough may still be too many programs.
// CHECK-LABEL: func.func @three
// CHECK: cf.assert %{{.*}}, "a grid has at most
// CHECK: arith.cmpf olt, %{{.*}}, %cst
// CHECK: cf.assert %{{.*}}, "a grid has less than 2^62 programs"
func.func @three(%m: memref<?xf32>, %n: index) {
  tile.launch @k grid(%n, %n, %n) outs(%m : memref<?xf32>)
  return
}
func.func private @k(%args: !llvm.ptr, %begin: i64, %end: i64)

// -----

// A module that has the runtime's function already keeps the one it has. A grid of known size is not checked.
// CHECK-NOT: cf.assert
// CHECK-COUNT-1: llvm.func @tessera_launch
// CHECK-NOT: llvm.func @tessera_launch
func.func @again(%m: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @k grid(%c1) outs(%m : memref<?xf32>)
  return
}
func.func private @k(%args: !llvm.ptr, %begin: i64, %end: i64)
llvm.func @tessera_launch(!llvm.ptr, !llvm.ptr, i64, !llvm.ptr)
