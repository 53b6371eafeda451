// Numbers made of conditions are chosen by them, and logic that is simpler than its text is replaced.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-simplify-conditions,canonicalize))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(func.func(tile-simplify-conditions,canonicalize))' | FileCheck %s

// A number of a condition times a constant is one of two constants, and comparing it gives the condition.
// CHECK-LABEL: @numbers
// CHECK-SAME: (%[[C:.*]]: vector<4xi1>)
// CHECK-DAG: %[[THREE:.*]] = arith.constant dense<3> : vector<4xi64>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0> : vector<4xi64>
// CHECK: %[[N:.*]] = arith.select %[[C]], %[[THREE]], %[[NONE]]
// CHECK-NOT: cmpi
// CHECK: return %[[N]], %[[C]]
func.func @numbers(%c: vector<4xi1>) -> (vector<4xi64>, vector<4xi1>) {
  %three = arith.constant dense<3> : vector<4xi64>
  %n = arith.extui %c : vector<4xi1> to vector<4xi64>
  %p = arith.muli %n, %three : vector<4xi64>
  %is = arith.cmpi eq, %p, %three : vector<4xi64>
  return %p, %is : vector<4xi64>, vector<4xi1>
}

// Through a conversion, with the sign, and as the opposite.
// CHECK-LABEL: @opposite
// CHECK-SAME: (%[[C:.*]]: i1)
// CHECK: %[[NOT:.*]] = arith.xori %[[C]]
// CHECK: return %[[NOT]]
func.func @opposite(%c: i1) -> i1 {
  %zero = arith.constant 0.0 : f32
  %n = arith.extsi %c : i1 to i32
  %f = arith.sitofp %n : i32 to f32
  %is = arith.cmpf oge, %f, %zero : f32
  return %is : i1
}

// CHECK-LABEL: @always
// CHECK: %[[TRUE:.*]] = arith.constant dense<true>
// CHECK: return %[[TRUE]]
func.func @always(%a: vector<4xi1>, %b: vector<4xi1>) -> vector<4xi1> {
  %yes = arith.constant dense<true> : vector<4xi1>
  %both = arith.andi %a, %b : vector<4xi1>
  %not = arith.xori %both, %yes : vector<4xi1>
  %or = arith.ori %not, %b : vector<4xi1>
  return %or : vector<4xi1>
}

// (a and b) or (a and not b) is a.
// CHECK-LABEL: @one_of_them
// CHECK-SAME: (%[[A:[^:]*]]: i1
// CHECK: return %[[A]]
func.func @one_of_them(%a: i1, %b: i1) -> i1 {
  %yes = arith.constant true
  %both = arith.andi %a, %b : i1
  %not = arith.xori %b, %yes : i1
  %only = arith.andi %a, %not : i1
  %or = arith.ori %both, %only : i1
  return %or : i1
}

// Three conditions that matter stay; so does arithmetic on numbers that are no constants, and a condition for all lanes.
// CHECK-LABEL: @stays
// CHECK: arith.andi
// CHECK: arith.ori
// CHECK: arith.extui
// CHECK: arith.muli
// CHECK: arith.select
// CHECK: arith.addi
func.func @stays(%a: i1, %b: i1, %c: i1, %x: vector<4xi32>) -> (i1, i32, vector<4xi32>) {
  %one = arith.constant dense<1> : vector<4xi32>
  %two = arith.constant dense<2> : vector<4xi32>
  %both = arith.andi %a, %b : i1
  %or = arith.ori %both, %c : i1
  %n = arith.extui %a : i1 to i32
  %first = vector.extract %x[0] : i32 from vector<4xi32>
  %p = arith.muli %n, %first : i32
  %s = arith.select %a, %one, %two : vector<4xi32>
  %t = arith.addi %s, %one : vector<4xi32>
  return %or, %p, %t : i1, i32, vector<4xi32>
}

// A number that does not fold (a shift by as many bits as there are) stays, too.
// CHECK-LABEL: @shift
// CHECK: arith.shli
func.func @shift(%c: i1) -> i32 {
  %far = arith.constant 32 : i32
  %n = arith.extui %c : i1 to i32
  %s = arith.shli %n, %far : i32
  return %s : i32
}

// So does an op that moves lanes: the condition of a lane is not that of the other one.
// CHECK-LABEL: @moved
// CHECK: vector.shuffle
func.func @moved(%c: vector<2xi1>) -> vector<2xi32> {
  %one = arith.constant dense<1> : vector<2xi32>
  %n = arith.extui %c : vector<2xi1> to vector<2xi32>
  %s = vector.shuffle %n, %one [1, 2] : vector<2xi32>, vector<2xi32>
  return %s : vector<2xi32>
}
