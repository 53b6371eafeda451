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

tt.func public @two(%c: i1, %x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
  // expected-error @+1 {{makes one pointer of pointers to different memory}}
  %p = arith.select %c, %x, %y : !tt.ptr<f32>
  %v = tt.load %p : !tt.ptr<f32>
  tt.store %x, %v : !tt.ptr<f32>
  tt.return
}

// -----

tt.func public @cast(%x: !tt.ptr<f32>, %y: !tt.ptr<i32>) {
  // expected-error @+1 {{makes a pointer to i32 of one to f32, which has no conversion to tile}}
  %p = tt.bitcast %x : !tt.ptr<f32> -> !tt.ptr<i32>
  %v = tt.load %p : !tt.ptr<i32>
  tt.store %y, %v : !tt.ptr<i32>
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
