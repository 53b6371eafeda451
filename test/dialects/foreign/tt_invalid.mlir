// RUN: %tile_opt %s --split-input-file --verify-diagnostics

// Each shape and element that a tt op requires.

tt.func @addptr(%p: tensor<8x!tt.ptr<f32>>, %i: tensor<4xi32>) {
  // expected-error @+1 {{has tensor<8x!tt.ptr<f32>> and tensor<4xi32>, expected one shape}}
  %q = tt.addptr %p, %i : tensor<8x!tt.ptr<f32>>, tensor<4xi32>
  tt.return
}

// -----

tt.func @mask(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %o: tensor<8xf32>) {
  // expected-error @+1 {{has a value for where the mask is false, but no mask}}
  %x = "tt.load"(%p, %o) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @boundary(%p: !tt.ptr<tensor<8x4xf32>>) {
  // expected-error @+1 {{axis is 2, expected 0 to 1}}
  %x = tt.load %p {boundaryCheck = array<i32: 0, 2>} : !tt.ptr<tensor<8x4xf32>>
  tt.return
}

// -----

tt.func @range() {
  // expected-error @+1 {{gives tensor<64xi32>, expected 63 numbers of i32}}
  %x = tt.make_range {end = 64 : i32, start = 1 : i32} : tensor<64xi32>
  tt.return
}

// -----

tt.func @broadcast(%x: tensor<8x2xf32>) {
  // expected-error @+1 {{expected equal sizes where the size is not 1}}
  %y = tt.broadcast %x : tensor<8x2xf32> -> tensor<8x4xf32>
  tt.return
}

// -----

tt.func @expand(%x: tensor<8xf32>) {
  // expected-error @+1 {{axis is 2, expected 0 to 1}}
  %y = tt.expand_dims %x {axis = 2 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  tt.return
}

// -----

tt.func @trans(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{`order` is no permutation of the dimensions}}
  %y = tt.trans %x {order = array<i32: 1, 1>} : tensor<8x4xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @reshape(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{expected as many elements}}
  %y = tt.reshape %x : tensor<8x4xf32> -> tensor<16xf32>
  tt.return
}

// -----

tt.func @dot(%a: tensor<8x4xf16>, %b: tensor<8x4xf16>, %c: tensor<8x4xf32>) {
  // expected-error @+1 {{expected MxK, KxN and MxN}}
  %d = tt.dot %a, %b, %c : tensor<8x4xf16> * tensor<8x4xf16> -> tensor<8x4xf32>
  tt.return
}

// -----

tt.func @reduce(%x: tensor<8xf32>) {
  // expected-error @+1 {{has 1 arguments of the block, expected 2}}
  %y = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32):
    tt.reduce.return %a : f32
  }) : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @rmw(%p: tensor<8x!tt.ptr<i32>>, %x: tensor<8xf32>) {
  // expected-error @+1 {{the value's element is f32, expected i32}}
  %y = tt.atomic_rmw fadd, relaxed, gpu, %p, %x : (tensor<8x!tt.ptr<i32>>, tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @word(%p: !tt.ptr<i32>, %x: i32) {
  // expected-error @+1 {{unknown atomic operation 'plus', expected one of and, or, xor, add}}
  %y = tt.atomic_rmw plus, relaxed, gpu, %p, %x : (!tt.ptr<i32>, i32) -> i32
  tt.return
}

// -----

tt.func @call(%x: i32) {
  // expected-error @+1 {{calls @nobody, expected a tt.func of this module}}
  tt.call @nobody(%x) : (i32) -> ()
  tt.return
}

// -----

tt.func @returns() -> i32 {
  // expected-error @+1 {{has 0 operands, expected 1}}
  tt.return
}

// -----

// expected-error @+1 {{points to index, expected an integer, a float, a pointer or a tile of them}}
tt.func @pointee(%p: !tt.ptr<index>) {
  tt.return
}

// -----

// expected-error @+1 {{address space 3, expected 1, global memory}}
tt.func @space(%p: !tt.ptr<f32, 3>) {
  tt.return
}

// -----

tt.func @large(%x: f32) {
  // expected-error @+1 {{a tile of integers, floats or pointers, of at most 2^20 elements}}
  %y = tt.splat %x : f32 -> tensor<4194304xf32>
  tt.return
}
