// What the row's checks and the parser say: the thing, the value wanted, the value seen.
// RUN: %unit/probe_opt_test %s -split-input-file -verify-diagnostics

//===--- numbers, segments
// expected-error@+1 {{'probe.add' op expects 2 operands, but got 0}}
%0 = "probe.add"() : () -> i32
// -----
func.func @f(%a: i32) {
  // expected-error@+1 {{'probe.add' op expects 1 result, but got 2}}
  %0:2 = "probe.add"(%a, %a) : (i32, i32) -> (i32, i32)
}
// -----
// expected-error@+1 {{'probe.whole' op expects at least 1 result, but got 0}}
func.func @f(%a: i32) { "probe.whole"(%a, %a) : (i32, i32) -> () }
// -----
// expected-error@+1 {{'probe.groups' op requires attribute 'operandSegmentSizes' with 4 entries}}
func.func @f(%a: i32) { "probe.groups"(%a) <{operandSegmentSizes = array<i32: 1, 0>}> : (i32) -> () }
// -----
// expected-error@+1 {{'probe.groups' op expects 0 or 1 values for operand 'maybe', but 'operandSegmentSizes' says 2}}
func.func @f(%a: i32) { "probe.groups"(%a, %a, %a) <{operandSegmentSizes = array<i32: 1, 2, 0, 0>}> : (i32, i32, i32) -> () }
// -----
// expected-error@+1 {{'probe.groups' op expects 1 value for operand 'first', but 'operandSegmentSizes' says 0}}
func.func @f(%a: i32) { "probe.groups"(%a) <{operandSegmentSizes = array<i32: 0, 1, 0, 0>}> : (i32) -> () }
// -----
// expected-error@+1 {{'probe.loop' op expects 1 region, but got 0}}
func.func @f(%i: index) { "probe.loop"(%i, %i) : (index, index) -> () }

//===--- types
// -----
// expected-error@+1 {{'probe.add' op operand #0 ('lhs') must be a tile (a ranked tensor of static shape) or a scalar, but got 'memref<4xf32>'}}
func.func @f(%m: memref<4xf32>) { probe.add %m, %m : memref<4xf32> }
// -----
// expected-error@+1 {{'probe.load' op operand #0 ('from') must be a memref, but got 'tensor<4xf32>'}}
func.func @f(%t: tensor<4xf32>) { %0 = probe.load %t : tensor<4xf32> }
// -----
func.func @f(%a: i32, %b: i64) {
  // expected-error@+1 {{'probe.add' op operand #1 ('rhs') must have type 'i32' because of 'lhs', but got 'i64'}}
  %0 = "probe.add"(%a, %b) : (i32, i64) -> i32
}
// -----
func.func @f(%a: i32) {
  // expected-error@+1 {{'probe.add' op result #0 ('sum') must have type 'i32' because of 'lhs', but got 'i8'}}
  %0 = "probe.add"(%a, %a) : (i32, i32) -> i8
}
// -----
func.func @f(%m: tensor<5xi1>, %a: tensor<4xf32>) {
  // expected-error@+1 {{'probe.select' op operand #0 ('mask') must have type 'tensor<4xi1>' because of 'value', but got 'tensor<5xi1>'}}
  %0:2 = "probe.select"(%m, %a) : (tensor<5xi1>, tensor<4xf32>) -> (tensor<4xf32>, f32)
}
// -----
func.func @f(%m: tensor<4xi1>, %a: tensor<4xf32>) {
  // expected-error@+1 {{'probe.select' op result #1 ('element') must have type 'f32' because of 'result', but got 'f16'}}
  %0:2 = "probe.select"(%m, %a) : (tensor<4xi1>, tensor<4xf32>) -> (tensor<4xf32>, f16)
}
// -----
func.func @f(%a: tensor<4xf32>) {
  // expected-error@+1 {{'probe.lists' op has 0 values for result 'results', but 1 for 'outputs'}}
  "probe.lists"(%a) <{operandSegmentSizes = array<i32: 0, 1>}> : (tensor<4xf32>) -> ()
}
// -----
// expected-error@+1 {{use of value '%m' expects different type than prior uses: 'tensor<4xi1>' vs 'tensor<5xi1>'}}
func.func @f(%m: tensor<5xi1>, %a: tensor<4xf32>) { %0:2 = probe.select %m, %a : tensor<4xf32> }
// expected-note@-1 {{prior use here}}
// -----
// expected-error@+1 {{'probe.store' op stores into elements of type 'f32'}}
func.func @f(%m: memref<4xf32>, %i: i32) { probe.store %i, %m : i32, memref<4xf32> }

// A row's inference meets nothing that the row excludes.
// -----
// expected-error@+1 {{'probe.double' op operand #0 ('input') must be a tile (a ranked tensor of static shape), but got 'index'}}
func.func @f(%i: index) { %0 = probe.double %i : index }
// -----
// expected-error@+1 {{'probe.double' op has a wrong kind of attribute 'times'}}
func.func @f(%t: tensor<4xf32>) { %0 = probe.double %t {times = "a"} : tensor<4xf32> }

//===--- attributes
// -----
// expected-error@+1 {{'probe.hidden' op requires attribute 'must' (an i64 integer)}}
probe.hidden
// -----
// expected-error@+1 {{'probe.hidden' op attribute 'must' must be an i64 integer, but got 1 : i32}}
probe.hidden {must = 1 : i32}
// -----
// expected-error@+1 {{'probe.hidden' op attribute 'may' must be one of fast, slow, off, but got "fat"}}
probe.hidden {must = 1, may = "fat"}
// -----
// expected-error@+1 {{unknown property 'mist' for op 'probe.hidden'}}
"probe.hidden"() <{mist = 1}> : () -> ()
// -----
// expected-error@+1 {{expected one of fast, slow, off}}
probe.options mode(quick)
// -----
// expected-error@+1 {{expected a string}}
probe.options title 3
// -----
// expected-error@+1 {{expected true or false}}
probe.options deep maybe
// -----
// expected-error@+1 {{expected integer value}}
probe.options sizes [a]
// -----
// expected-error@+1 {{expected ']'}}
probe.options sizes [1, 2
// -----
// expected-error@+1 {{does not fit in 32 bits}}
probe.attributes 1 2 3 true 0.5 "" w slow @f i1 [] [] [] [] [4294967296]

//===--- what must come together
// -----
func.func @f(%m: memref<4xf32>) {
  // expected-error@+1 {{'probe.copy' op expects 'use' exactly when 'barrier' is present}}
  "probe.copy"(%m, %m, %m) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
}
// -----
func.func @f(%m: memref<4xf32>) {
  // expected-error@+1 {{'probe.copy' op expects 'token' exactly when 'barrier' is absent}}
  "probe.copy"(%m, %m) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (memref<4xf32>, memref<4xf32>) -> ()
}
// -----
func.func @f(%m: memref<4xf32>) {
  // expected-error@+1 {{'probe.copy' op expects 'lane' exactly when 'engine' is present}}
  %0 = "probe.copy"(%m, %m) <{engine = "a", operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (memref<4xf32>, memref<4xf32>) -> i64
}

//===--- syntax
// -----
// expected-error@+1 {{expected SSA operand}}
func.func @f(%a: i32) { probe.groups %a maybe : i32 }
// -----
// expected-error@+1 {{expected as many types as operands 'inputs': 2, but got 1}}
func.func @f(%a: i32) { probe.lists ins(%a, %a : i32) }
// -----
// expected-error@+1 {{more types than values}}
func.func @f(%a: i32) { %0 = probe.whole %a, %a : (i32, i32, i32) -> i32 }
// -----
// expected-error@+1 {{expected as many types as operands 'argument': 1, but got 0}}
func.func @f(%a: i32) { %0 = probe.whole %a, %a : (i32) -> i32 }
// -----
// expected-error@+1 {{result 'first' needs 1 type, but got 0}}
func.func @f(%a: i32) { %0 = probe.whole %a, %a : (i32, i32) -> () }
// -----
// expected-error@+1 {{expected '->'}}
func.func @f(%a: i32) { probe.call @g(%a) : (i32) }
// -----
// expected-error@+1 {{the type of operand 'mask' cannot be told from the other types}}
func.func @f(%m: memref<4xi1>) { probe.select %m, %m : memref<4xi1> }
// -----
// expected-error@+1 {{expected integer value}}
func.func @f(%t: tensor<4xf32>) { probe.slice %t[a] : tensor<4xf32> -> tensor<4xf32> }
// -----
// expected-error@+1 {{'probe.bare' op has no custom assembly form}}
probe.bare
