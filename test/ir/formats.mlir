// Each feature of the format language: printed as written here, stable through text, generic form and bytecode.
// RUN: %unit/probe_opt_test %s | FileCheck %s
// RUN: %unit/probe_opt_test %s > %t.1 && %unit/probe_opt_test %t.1 | diff %t.1 -
// RUN: %unit/probe_opt_test %s --mlir-print-op-generic | %unit/probe_opt_test | diff %t.1 -
// RUN: %unit/probe_opt_test %s --emit-bytecode | %unit/probe_opt_test | diff %t.1 -

// CHECK-LABEL: @values
func.func @values(%a: tensor<4xf32>, %i: index, %n: i32, %m: memref<4xf32>, %f: f32, %mask: tensor<4xi1>) {
  // CHECK: %{{.*}}:2 = probe.make : i32, tensor<2xf32>
  %0:2 = probe.make : i32, tensor<2xf32>
  // CHECK: probe.make :{{$}}
  probe.make :
  // CHECK: probe.add %arg0, %arg0 {note} : tensor<4xf32>
  %1 = probe.add %a, %a {note} : tensor<4xf32>

  // CHECK: probe.groups %arg0 : tensor<4xf32>
  probe.groups %a : tensor<4xf32>
  // CHECK: probe.groups %arg0 maybe %arg2 rest[%arg1, %arg1], %arg4 : f32 {x = 1 : i64} : tensor<4xf32>
  probe.groups %a maybe %n rest[%i, %i], %f : f32 {x = 1 : i64} : tensor<4xf32>
  // CHECK: probe.groups %arg0 maybe %arg2 : tensor<4xf32>
  probe.groups %a maybe %n rest [] : tensor<4xf32>
  // CHECK: probe.groups %arg0, %arg4 : f32 : tensor<4xf32>
  probe.groups %a, %f : f32 : tensor<4xf32>

  // CHECK: probe.lists{{$}}
  probe.lists
  // CHECK: %{{.*}}:2 = probe.lists ins(%arg2 : i32) outs(%arg0, %arg0 : tensor<4xf32>, tensor<4xf32>)
  %2:2 = probe.lists ins(%n : i32) outs(%a, %a : tensor<4xf32>, tensor<4xf32>)
  // CHECK: %{{.*}}:3 = probe.halves %arg2, %arg4 : i32, f32 -> i32, i32 / f32
  %3:3 = probe.halves %n, %f : i32, f32 -> i32, i32 / f32
  // CHECK: probe.halves : -> /
  probe.halves : -> /

  // CHECK: %{{.*}}:2 = probe.select %arg5, %arg0 or %arg0 : tensor<4xf32>
  %4:2 = probe.select %mask, %a or %a : tensor<4xf32>
  // CHECK: probe.select %arg5, %arg0 : tensor<4xf32>
  %5:2 = probe.select %mask, %a : tensor<4xf32>

  // CHECK: %{{.*}} = probe.copy %arg3 to %arg3 engine "tma" lane 3 : memref<4xf32> to memref<4xf32>
  %6 = probe.copy %m to %m engine "tma" lane 3 : memref<4xf32> to memref<4xf32>
  // CHECK: {{^ *}}probe.copy %arg3 to %arg3 signals %arg3[%arg1] : memref<4xf32> to memref<4xf32>, memref<4xf32>
  probe.copy %m to %m signals %m[%i] : memref<4xf32> to memref<4xf32>, memref<4xf32>

  // CHECK: probe.double %arg0 : tensor<4xf32>
  // CHECK-NEXT: probe.add %{{.*}}, %{{.*}} : tensor<8xf32>
  %7 = probe.double %a : tensor<4xf32>
  %8 = probe.add %7, %7 : tensor<8xf32>
  // CHECK: probe.double %arg0 times 3 : tensor<4xf32>
  // CHECK-NEXT: probe.add %{{.*}}, %{{.*}} : tensor<12xf32>
  %9 = probe.double %a times 3 : tensor<4xf32>
  %10 = probe.add %9, %9 : tensor<12xf32>
  return
}

// CHECK-LABEL: @attributes
func.func @attributes() {
  // CHECK: probe.attributes -1 2 3 true 5.000000e-01 "a \22b\22" arith.addf slow @f tensor<2xf32> [i1, f32] ["p", "q"] [shared, local] [1, -2] [3] {k = 1 : i64} [0.{{0+}}e+00 : f32, @g] #map {extra}
  probe.attributes -1 2 3 true 0.5 "a \22b\22" arith.addf slow @f tensor<2xf32> [i1, f32] ["p", "q"] [shared, local] [1, -2] [3] {k = 1} [0.0 : f32, @g] affine_map<(d0) -> (d0)> {extra}
  // CHECK: probe.options{{$}}
  probe.options
  // CHECK: probe.options mode(slow) level = 4 sizes [1, 3] title "some" reverse other deep true {hidden = 3 : i32}
  probe.options mode(slow) level = 4 sizes [1, 3] title "some" reverse other deep true {hidden = 3 : i32}
  // A default that is written is not printed.
  // CHECK: probe.options{{$}}
  probe.options mode(fast) level = 3 sizes [1, 2] title "none" deep false
  // CHECK: probe.kinds{{$}}
  probe.kinds
  // CHECK: probe.kinds fast = -7 "text" @callee
  probe.kinds fast = -7 "text" @callee
  // CHECK: probe.kinds "text"{{$}}
  probe.kinds "text"
  // CHECK: probe.kinds @callee {note}
  probe.kinds @callee {note}
  // CHECK: probe.constant {x} dense<1> : tensor<2xi8> to tensor<2xi8>
  %0 = probe.constant {x} dense<1> : tensor<2xi8> to tensor<2xi8>
  // CHECK: probe.hidden {may = "off", must = 1 : i64, other}
  probe.hidden {must = 1, may = "off", other}
  return
}

// CHECK: probe.named @name attributes {extra = [], sym_visibility = "private"}
probe.named @name attributes {extra = [], sym_visibility = "private"}

// CHECK-LABEL: @texts
func.func @texts(%i: index, %t: tensor<4x4xf32>, %f: () -> i32) {
  // CHECK: probe.spaces {a} <b>c sizes [1][%arg0, %arg0] = -> x : y, z {note}
  probe.spaces {a} <b> c sizes [1] [%i, %i] = -> x : y, z {note}
  // CHECK: probe.slice %arg1[0, %arg0] : tensor<4x4xf32> -> tensor<2x2xf32>
  %0 = probe.slice %t[0, %i] : tensor<4x4xf32> -> tensor<2x2xf32>
  // CHECK: probe.slice %arg1[] : tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = probe.slice %t[] : tensor<4x4xf32> -> tensor<4x4xf32>
  // CHECK: probe.call @f() : () -> ()
  probe.call @f() : () -> ()
  // CHECK: probe.call @f(%arg0, %arg0) {note} : (index, index) -> i32
  %2 = probe.call @f(%i, %i) {note} : (index, index) -> i32
  // CHECK: probe.call @f(%arg0) : (index) -> (i32, f32)
  %3:2 = probe.call @f(%i) : (index) -> (i32, f32)
  // CHECK: probe.call @f(%arg0) : (index) -> (() -> i32)
  %4 = probe.call @f(%i) : (index) -> (() -> i32)
  // CHECK: probe.whole %arg2, %arg0 : (() -> i32, index) -> f32
  %5 = probe.whole %f, %i : (() -> i32, index) -> f32
  // CHECK: probe.whole %arg2, %arg0 : (() -> i32, index) -> (f32, i1, i2)
  %6:3 = probe.whole %f, %i : (() -> i32, index) -> (f32, i1, i2)
  return
}

// CHECK-LABEL: @regions
func.func @regions(%i: index, %c: i1, %x: f32) {
  // CHECK: probe.loop %[[V:.*]] = %arg0 to %arg0 carries(%arg2, %arg1 : f32, i1) {
  // CHECK-NEXT: probe.groups %[[V]] : index
  // CHECK-NEXT: probe.end
  // CHECK-NEXT: } attributes {note}
  probe.loop %v = %i to %i carries(%x, %c : f32, i1) {
    probe.groups %v : index
    probe.end
  } attributes {note}
  // CHECK: probe.maybe %arg1 {
  // CHECK-NEXT: probe.groups
  // CHECK-NEXT: }{{$}}
  probe.maybe %c {
    probe.groups %i : index
  }
  // CHECK: probe.maybe %arg1 {
  // CHECK-NEXT: } else {
  // CHECK-NEXT: probe.end %arg0 : index
  // CHECK-NEXT: }
  probe.maybe %c {
  } else {
    probe.end %i : index
  }
  // CHECK: probe.cases attributes {n = 2 : i64} {
  // CHECK-NEXT: probe.groups
  // CHECK-NEXT: }, {
  // CHECK-NEXT: ^bb0(%{{.*}}: i32):
  // CHECK-NEXT: probe.kinds
  // CHECK-NEXT: }
  probe.cases attributes {n = 2} {
    probe.groups %i : index
  }, {
  ^bb0(%a: i32):
    probe.kinds
  }
  // CHECK: probe.cases{{$}}
  probe.cases
  // CHECK: probe.pairs{{$}}
  probe.pairs
  // CHECK: probe.pairs[%arg0 = %arg2 : f32, %arg0 = %arg1 : i1] {note}
  probe.pairs[%i = %x : f32, %i = %c : i1] {note}
  // CHECK: "probe.bare"(%arg0) : (index) -> i32
  %0 = "probe.bare"(%i) : (index) -> i32
  return
}
