// RUN: %tile_opt %s --convert-tt-to-tile --split-input-file --verify-diagnostics

tt.func public @recursive(%n: i32) {
  // expected-error @+1 {{is a call that cannot be inlined: recursion does not become a kernel}}
  tt.call @recursive(%n) : (i32) -> ()
  tt.return
}

// -----

// expected-error @+1 {{parameter 0 is tensor<8xi32>, expected a pointer, an integer or a float}}
tt.func public @parameter(%x: tensor<8xi32>) {
  tt.return
}

// -----

tt.func public @inline_asm(%n: i32) {
  // expected-error @+1 {{has the text "bfind.u32 $0, $1;", expected one instruction of PTX that this conversion knows}}
  %y = tt.elementwise_inline_asm "bfind.u32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %n : i32 -> i32
  tt.return
}

// -----

tt.func public @inline_order(%x: f32) {
  // expected-error @+1 {{has the text "sub.f32 $0, $2, $1;", expected one instruction of PTX}}
  %y = tt.elementwise_inline_asm "sub.f32 $0, $2, $1;" {constraints = "=f,f,f", packed_element = 1 : i32, pure = true} %x, %x : f32, f32 -> f32
  tt.return
}

// -----

tt.func public @inline_type(%n: i32) {
  // expected-error @+1 {{runs ex2.approx.f32 on i32}}
  %y = tt.elementwise_inline_asm "ex2.approx.f32 $0, $1;" {constraints = "=f,f", packed_element = 1 : i32, pure = true} %n : i32 -> i32
  tt.return
}

// -----

tt.func public @library(%x: f32) {
  // expected-error @+1 {{calls '__nv_j0f', which is not in the table of device functions}}
  %y = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_j0f"} : (f32) -> f32
  tt.return
}

// -----

tt.func public @two(%n: i32, %x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %last:2 = scf.for %i = %zero to %n step %one iter_args(%a = %x, %b = %y) -> (!tt.ptr<f32>, !tt.ptr<f32>) : i32 {
    // expected-error @+1 {{moves a pointer to different memory from round to round}}
    scf.yield %b, %a : !tt.ptr<f32>, !tt.ptr<f32>
  }
  %v = tt.load %last#0 : !tt.ptr<f32>
  tt.store %x, %v : !tt.ptr<f32>
  tt.return
}

// -----

tt.func public @two_descriptors(%c: i1, %n: i32, %s: i64, %x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  %one = arith.constant 1 : i64
  %a = tt.make_tensor_descriptor %x, [%n, %n], [%s, %one] : <f32>, <8x16xf32>
  %b = tt.make_tensor_descriptor %y, [%n, %n], [%s, %one] : <f32>, <8x16xf32>
  // expected-error @+1 {{makes one descriptor of descriptors of different memory}}
  %d = scf.if %c -> (!tt.tensordesc<8x16xf32>) {
    scf.yield %a : !tt.tensordesc<8x16xf32>
  } else {
    scf.yield %b : !tt.tensordesc<8x16xf32>
  }
  %v = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>
  tt.descriptor_store %a[%n, %n], %v : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>
  tt.return
}

// -----

tt.func public @stride(%n: i32, %s: i64, %x: !tt.ptr<f32>) {
  %low = arith.constant -9223372036854775808 : i64
  // expected-error @+1 {{takes the number -9223372036854775808, expected one that memory can have}}
  %a = tt.make_tensor_descriptor %x, [%n, %n], [%s, %low] : <f32>, <8x16xf32>
  %v = tt.descriptor_load %a[%n, %n] : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>
  tt.descriptor_store %a[%n, %n], %v : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>
  tt.return
}

// -----

tt.func public @scaled_six(%p: !tt.ptr<f32>) {
  %a = arith.constant dense<1> : tensor<32x64xi8>
  %s = arith.constant dense<127> : tensor<32x2xi8>
  %b = arith.constant dense<1> : tensor<64x16xi8>
  %t = arith.constant dense<127> : tensor<16x2xi8>
  %c = arith.constant dense<0.0> : tensor<32x16xf32>
  // expected-error @+1 {{has elements of 6 bits, or of 4 bits that are not packed along K, as its right factor}}
  %d = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e4m3 rhs = e2m3 {fastMath = false}
      : tensor<32x64xi8>, tensor<32x2xi8> * tensor<64x16xi8>, tensor<16x2xi8> -> tensor<32x16xf32>
  %q = tt.splat %p : !tt.ptr<f32> -> tensor<32x16x!tt.ptr<f32>>
  tt.store %q, %d : tensor<32x16x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func public @scaled_wide(%p: !tt.ptr<f32>) {
  %a = arith.constant dense<1.0> : tensor<32x64xbf16>
  %b = arith.constant dense<1.0> : tensor<64x16xf16>
  %c = arith.constant dense<0.0> : tensor<32x16xf32>
  // expected-error @+1 {{multiplies bf16 and f16, expected one of the two}}
  %d = tt.dot_scaled %a, %b, %c lhs = bf16 rhs = fp16 {fastMath = false}
      : tensor<32x64xbf16> * tensor<64x16xf16> -> tensor<32x16xf32>
  %q = tt.splat %p : !tt.ptr<f32> -> tensor<32x16x!tt.ptr<f32>>
  tt.store %q, %d : tensor<32x16x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func public @scaled_by(%p: !tt.ptr<f32>) {
  %a = arith.constant dense<1> : tensor<32x64xi8>
  %s = arith.constant dense<127> : tensor<32x8xi8>
  %b = arith.constant dense<1.0> : tensor<64x16xbf16>
  %c = arith.constant dense<0.0> : tensor<32x16xf32>
  // expected-error @+1 {{has tensor<32x8xi8> as scales of its left factor: expected a byte for each 16 or 32 elements along K}}
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = bf16 {fastMath = false}
      : tensor<32x64xi8>, tensor<32x8xi8> * tensor<64x16xbf16> -> tensor<32x16xf32>
  %q = tt.splat %p : !tt.ptr<f32> -> tensor<32x16x!tt.ptr<f32>>
  tt.store %q, %d : tensor<32x16x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func public @scaled_bits(%p: !tt.ptr<f32>) {
  %a = arith.constant dense<1> : tensor<32x64xi8>
  %b = arith.constant dense<1.0> : tensor<64x16xbf16>
  %c = arith.constant dense<0.0> : tensor<32x16xf32>
  // expected-error @+1 {{has tensor<32x64xi8> as its left factor, whose bits are no elements of its kind}}
  %d = tt.dot_scaled %a, %b, %c lhs = bf16 rhs = bf16 {fastMath = false}
      : tensor<32x64xi8> * tensor<64x16xbf16> -> tensor<32x16xf32>
  %q = tt.splat %p : !tt.ptr<f32> -> tensor<32x16x!tt.ptr<f32>>
  tt.store %q, %d : tensor<32x16x!tt.ptr<f32>>
  tt.return
}

// -----

// expected-error @+1 {{is public and gives results: a kernel gives none}}
tt.func public @result(%x: i32) -> i32 {
  tt.return %x : i32
}

// -----

tt.func public @packed(%p: !tt.ptr<f32>) {
  %x = arith.constant dense<1.0> : tensor<64xf32>
  // expected-error @+1 {{takes 2 elements at a time; only 1 has a conversion to tile}}
  %m = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.map_elementwise.return %b, %a : f32, f32
  }) : (tensor<64xf32>) -> tensor<64xf32>
  %q = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  tt.store %q, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func public @fails(%p: !tt.ptr<i32>, %n: i32) {
  %x = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %m = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: i32):
    %zero = arith.constant 0 : i32
    %c = arith.cmpi ne, %n, %zero : i32
    %r = scf.if %c -> i32 {
      // expected-error @+1 {{may fail, and stands in an arm of a condition in tt.map_elementwise}}
      %q = arith.divsi %a, %n : i32
      scf.yield %q : i32
    } else {
      scf.yield %a : i32
    }
    tt.map_elementwise.return %r : i32
  }) : (tensor<64xi32>) -> tensor<64xi32>
  %q = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  tt.store %q, %m : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

tt.func public @walks(%p: !tt.ptr<i32>, %n: i32) {
  %x = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %m = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    // expected-error @+1 {{in tt.map_elementwise has no conversion to tile: expected arithmetic and conditions}}
    %r = scf.for %i = %zero to %n step %one iter_args(%s = %a) -> i32 : i32 {
      %t = arith.addi %s, %i : i32
      scf.yield %t : i32
    }
    tt.map_elementwise.return %r : i32
  }) : (tensor<64xi32>) -> tensor<64xi32>
  %q = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  tt.store %q, %m : tensor<64x!tt.ptr<i32>>
  tt.return
}

// -----

// A remark where a kernel may depend on an order that Triton does not promise; none for a sum of all elements.
tt.func public @order(%b: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %x = arith.constant dense<1.0> : tensor<4x8xf32>
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %a = tt.splat %b : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %p = tt.addptr %a, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  // expected-remark@+1 {{keeps the order of its elements, which Triton does not promise}}
  %y = tt.reshape %x allow_reorder : tensor<4x8xf32> -> tensor<32xf32>
  tt.store %p, %y : tensor<32x!tt.ptr<f32>>
  %z = tt.reshape %x allow_reorder : tensor<4x8xf32> -> tensor<32xf32>
  %s = "tt.reduce"(%z) <{axis = 0 : i32}> ({
  ^bb0(%c: f32, %d: f32):
    %e = arith.addf %c, %d : f32
    tt.reduce.return %e : f32
  }) : (tensor<32xf32>) -> f32
  tt.store %q, %s : !tt.ptr<f32>
  tt.return
}
