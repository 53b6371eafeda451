// RUN: %tile_opt %s --pass-pipeline='builtin.module(convert-assert-to-runtime)' | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(convert-assert-to-runtime)' | FileCheck %s
// RUN: not %tile_run %s 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: %tile_run %s --entry=quiet
// RUN: %tile_translate %s --tile-to-program -o %t.so && not %tile_exec %t.so 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: not %tile_exec %t.so --into 2>&1 | FileCheck %s --check-prefix=FAIL

// CHECK-DAG: llvm.mlir.global internal constant @assert_text_0("{{.*}}assert_to_runtime.mlir:[[#]]:3: assertion failed: wants more than a hundred\00")
// CHECK-DAG: llvm.mlir.global internal constant @assert_text_2("{{.*}}a name that is taken
// CHECK-DAG: func.func private @tessera_raise_message(!llvm.ptr)
// CHECK-LABEL: func.func @main(
// CHECK: %[[OK:.*]] = arith.cmpi sgt
// CHECK: %[[WRONG:.*]] = arith.xori %[[OK]], %{{.*}} : i1
// CHECK-NEXT: scf.if %[[WRONG]] {
// CHECK-NEXT: %[[TEXT:.*]] = llvm.mlir.addressof @assert_text_0
// CHECK-NEXT: call @tessera_raise_message(%[[TEXT]])
// CHECK-NOT: cf.assert
// FAIL: error: {{.*}}assert_to_runtime.mlir:[[#]]:3: assertion failed: wants more than a hundred
func.func @main(%x: i32) -> i32 {
  %c = arith.constant 100 : i32
  %ok = arith.cmpi sgt, %x, %c : i32
  cf.assert %ok, "wants more than a hundred"
  return %x : i32
}

func.func private @assert_text_1(%ok: i1) {
  cf.assert %ok, "a name that is taken"
  return
}

// Two indices that an assertion compares are told.
// CHECK-LABEL: func.func @sizes(
// CHECK: scf.if
// CHECK: call @tessera_raise_unequal(%{{.*}}, %arg0, %{{.*}}) : (!llvm.ptr, index, index) -> ()
// RUN: not %tile_run %s --entry=sizes 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: not %tile_exec %t.so --entry=sizes 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: error: {{.*}}assert_to_runtime.mlir:[[#]]:3: assertion failed: wants a million ({{-?[0-9]+}} and 1000000)
func.func @sizes(%n: index) {
  %c = arith.constant 1000000 : index
  %ok = arith.cmpi eq, %n, %c : index
  cf.assert %ok, "wants a million"
  return
}

// CHECK-LABEL: func.func @quiet(
// CHECK-NEXT: return
func.func @quiet() {
  return
}
