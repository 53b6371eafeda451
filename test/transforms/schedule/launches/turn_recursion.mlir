// RUN: %tile_opt %s --split-input-file -verify-diagnostics --pass-pipeline='builtin.module(func.func(tile-turn-recursion-into-loops{chip=sm_80 persistent=always depth=5 remarks=true}))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-turn-recursion-into-loops{chip=sm_80 persistent=never}))' | FileCheck %s --check-prefix=STAYS
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-turn-recursion-into-loops{chip=x86-64-v3 persistent=always}))' | FileCheck %s --check-prefix=STAYS
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-turn-recursion-into-loops{chip=sm_80 depth=0}))' 2>&1 | FileCheck %s --check-prefix=DEPTH
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-turn-recursion-into-loops{chip=sm_80 persistent=often}))' 2>&1 | FileCheck %s --check-prefix=OFTEN
// STAYS-NOT: scf.while
// DEPTH: error: {{.*}}depth: 0; accepts 1 to 65536
// OFTEN: error: {{.*}}persistent: unknown 'often'; accepts model, always and never

// The table is handed on, so it stays outside of the loop. %n is held for the rest behind the call, %x is not.
// CHECK-LABEL: func.func @sum
// CHECK-SAME: %[[table:.*]]: tensor<7xi64>
// CHECK: tensor.empty() : tensor<6xi32>
// CHECK: %[[frames:.*]] = tensor.empty() : tensor<6xi64>
// CHECK: scf.while
// CHECK-SAME: %[[frames]]
// CHECK-NOT: tensor<7xi64>,
// CHECK: scf.condition
// CHECK-NOT: call @sum
// CHECK: arith.constant 1 : i32
// CHECK: tensor.insert {{.*}} : tensor<6xi32>
// CHECK: cf.assert {{.*}}, "recursion of 'sum' is deeper than its 5 frames (tile.depth of the function)"
func.func @sum(%n: index, %table: tensor<7xi64>) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %more = arith.cmpi ne, %n, %c0 : index
  %r = scf.if %more -> i64 {
    %below = arith.subi %n, %c1 : index
    %s = func.call @sum(%below, %table) : (index, tensor<7xi64>) -> i64
    %x = tensor.extract %table[%n] : tensor<7xi64>
    %t = arith.addi %s, %x : i64
    scf.yield %t : i64
  } else {
    %x = tensor.extract %table[%c0] : tensor<7xi64>
    scf.yield %x : i64
  }
  return %r : i64
}

// -----

// expected-remark@below {{keeps its calls of itself: it calls itself in a loop}}
func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    func.call @loop(%i) : (index) -> ()
  }
  return
}

// -----

// expected-remark@below {{keeps its calls of itself: the sizes of what it takes or gives are not known}}
func.func @open(%n: i1, %x: tensor<?xf32>) -> tensor<?xf32> {
  %f = arith.constant false
  %r = scf.if %n -> tensor<?xf32> {
    %y = func.call @open(%f, %x) : (i1, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// expected-remark@below {{keeps its calls of itself: a call's rest looks at too much, or at tensors of unknown sizes}}
func.func @held(%n: i1, %x: tensor<?xf32>, %size: index) -> f32 {
  %f = arith.constant false
  %c0 = arith.constant 0 : index
  %e = tensor.empty(%size) : tensor<?xf32>
  %a = tensor.insert_slice %x into %e[0] [%size] [1] : tensor<?xf32> into tensor<?xf32>
  %r = scf.if %n -> f32 {
    %y = func.call @held(%f, %x, %size) : (i1, tensor<?xf32>, index) -> f32
    %v = tensor.extract %a[%c0] : tensor<?xf32>
    %s = arith.addf %y, %v : f32
    scf.yield %s : f32
  } else {
    %v = tensor.extract %a[%c0] : tensor<?xf32>
    scf.yield %v : f32
  }
  return %r : f32
}

// -----

// No function calls itself: nothing is to be said.
// CHECK-LABEL: func.func @other
// CHECK-NEXT: return
func.func @other() {
  return
}
func.func @caller() {
  func.call @other() : () -> ()
  return
}
