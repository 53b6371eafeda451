// RUN: %tile_opt %s > %t.once
// RUN: %tile_opt %t.once | diff %t.once -
// RUN: %tile_opt %s --mlir-print-op-generic | %tile_opt - | diff %t.once -
// RUN: FileCheck %s < %t.once
// RUN: not %mlir_opt_plugin %s 2>&1 | FileCheck %s --check-prefix=PLUGIN
// PLUGIN: error: {{.*}}tt

// Every op of TTIR, as Triton prints it.

// CHECK-LABEL: tt.func public @memory(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}
// CHECK-SAME: attributes {noinline = false}
tt.func public @memory(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %i: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
  %cst = arith.constant dense<0.000000e+00> : tensor<128xf32>
  %c1_i32 = arith.constant 1 : i32
  %c9_i64 = arith.constant 9 : i64
  // CHECK: tt.get_program_id x : i32
  %pid = tt.get_program_id x : i32
  // CHECK: tt.get_num_programs z : i32
  %num = tt.get_num_programs z : i32
  // CHECK: tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %at = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // CHECK: tt.splat %{{.*}} : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %q = tt.addptr %p, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %nn = tt.splat %n : i32 -> tensor<128xi32>
  %m = arith.cmpi slt, %at, %nn : tensor<128xi32>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_first>} : tensor<128x!tt.ptr<f32>>
  %a = tt.load %q, %m, %cst {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_first>} : tensor<128x!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}}, %{{[^,]*}} {isVolatile = true} : tensor<128x!tt.ptr<f32>>
  %b = tt.load %q, %m {isVolatile = true} : tensor<128x!tt.ptr<f32>>
  // CHECK: tt.load %{{[^,]*}} : !tt.ptr<f32>
  %c = tt.load %x : !tt.ptr<f32>
  // CHECK: tt.load %{{[^,]*}} cacheModifier = cg evictionPolicy = evict_last : !tt.ptr<f32>
  %d = tt.load %x cacheModifier = cg evictionPolicy = evict_last : !tt.ptr<f32>
  // CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<128x!tt.ptr<f32>>
  tt.store %q, %a, %m : tensor<128x!tt.ptr<f32>>
  tt.store %x, %c : !tt.ptr<f32>
  // CHECK: tt.atomic_rmw add, relaxed, cta, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32) -> i32
  %e = tt.atomic_rmw add, relaxed, cta, %i, %n : (!tt.ptr<i32>, i32) -> i32
  // CHECK: tt.atomic_rmw fadd, acq_rel, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<128x!tt.ptr<f32>>, tensor<128xf32>, tensor<128xi1>) -> tensor<128xf32>
  %f = tt.atomic_rmw fadd, acq_rel, gpu, %q, %a, %m : (tensor<128x!tt.ptr<f32>>, tensor<128xf32>, tensor<128xi1>) -> tensor<128xf32>
  // CHECK: tt.atomic_cas acquire, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i32) -> i32
  %g = tt.atomic_cas acquire, gpu, %i, %c1_i32, %n : (!tt.ptr<i32>, i32, i32) -> i32
  // CHECK: tt.atomic_load acquire, gpu, %{{.*}} : (!tt.ptr<i32>) -> i32
  %h = tt.atomic_load acquire, gpu, %i : (!tt.ptr<i32>) -> i32
  // CHECK: tt.atomic_store release, sys, %{{.*}}, %{{.*}} : !tt.ptr<i32>
  tt.atomic_store release, sys, %i, %h : !tt.ptr<i32>
  // CHECK: tt.atomic_poll acquire, gpu, %{{.*}}, %{{.*}} timeout %{{.*}} : !tt.ptr<i32>, i32 -> i1
  %ok = tt.atomic_poll acquire, gpu, %i, %h timeout %c9_i64 : !tt.ptr<i32>, i32 -> i1
  // CHECK: tt.ptr_to_int %{{.*}} : tensor<128x!tt.ptr<f32>> -> tensor<128xi64>
  %adr = tt.ptr_to_int %q : tensor<128x!tt.ptr<f32>> -> tensor<128xi64>
  // CHECK: tt.int_to_ptr %{{.*}} : tensor<128xi64> -> tensor<128x!tt.ptr<f32>>
  %r = tt.int_to_ptr %adr : tensor<128xi64> -> tensor<128x!tt.ptr<f32>>
  // CHECK: tt.bitcast %{{.*}} : tensor<128x!tt.ptr<f32>> -> tensor<128x!tt.ptr<i32>>
  %s = tt.bitcast %q : tensor<128x!tt.ptr<f32>> -> tensor<128x!tt.ptr<i32>>
  // CHECK: tt.grid_dependency_wait
  tt.grid_dependency_wait
  // CHECK: tt.grid_dependency_launch_dependents
  tt.grid_dependency_launch_dependents
  // CHECK: ttg.barrier all
  ttg.barrier all
  // CHECK: tt.assert %{{.*}}, "positive" : tensor<128xi1>
  tt.assert %m, "positive" : tensor<128xi1>
  // CHECK: tt.print " x: " {hex = false, isSigned = array<i32: 0, 1>} : %{{.*}}, %{{.*}} : tensor<128xf32>, tensor<128xi32>
  tt.print " x: " {hex = false, isSigned = array<i32: 0, 1>} : %a, %at : tensor<128xf32>, tensor<128xi32>
  // CHECK: tt.print " here" {hex = false, isSigned = array<i32>}
  tt.print " here" {hex = false, isSigned = array<i32>}
  // CHECK: tt.return
  tt.return
}

// CHECK-LABEL: tt.func private @elementwise
tt.func private @elementwise(%x: tensor<64xf32>, %y: tensor<64xf32>, %i: tensor<64xi32>) -> (tensor<64xf32>, f32) {
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = all : tensor<64xf32>
  %a = tt.clampf %x, %y, %x, propagateNan = all : tensor<64xf32>
  // CHECK: tt.precise_sqrt %{{.*}} : tensor<64xf32>
  %b = tt.precise_sqrt %a : tensor<64xf32>
  // CHECK: tt.precise_divf %{{.*}}, %{{.*}} : tensor<64xf32>
  %c = tt.precise_divf %a, %b : tensor<64xf32>
  // CHECK: tt.approx_divf
  %d = tt.approx_divf %a, %c : tensor<64xf32>
  // CHECK: tt.mulhiui %{{.*}}, %{{.*}} : tensor<64xi32>
  %e = tt.mulhiui %i, %i : tensor<64xi32>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtz : tensor<64xf32> -> tensor<64xf16>
  %f = tt.fp_to_fp %d, rounding = rtz : tensor<64xf32> -> tensor<64xf16>
  // CHECK: tt.fp_to_fp %{{.*}} : tensor<64xf16> -> tensor<64xf32>
  %g = tt.fp_to_fp %f : tensor<64xf16> -> tensor<64xf32>
  // CHECK: tt.extern_elementwise %{{.*}}, %{{.*}} {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %h = tt.extern_elementwise %g, %y {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  // CHECK: tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %{{.*}} : tensor<64xi32> -> tensor<64xi32>
  %j = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %e : tensor<64xi32> -> tensor<64xi32>
  // CHECK: "tt.map_elementwise"(%{{.*}}) <{pack = 1 : i32}> ({
  %k = "tt.map_elementwise"(%h) <{pack = 1 : i32}> ({
  ^bb0(%v: f32):
    tt.map_elementwise.return %v : f32
  }) : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: "tt.reduce"(%{{.*}}) <{axis = 0 : i32}> ({
  // CHECK: tt.reduce.return %{{.*}} : f32
  %l = "tt.reduce"(%k) <{axis = 0 : i32}> ({
  ^bb0(%v: f32, %w: f32):
    %s = arith.addf %v, %w : f32
    tt.reduce.return %s : f32
  }) : (tensor<64xf32>) -> f32
  // CHECK: "tt.scan"(%{{.*}}, %{{.*}}) <{axis = 0 : i32, reverse = true}> ({
  %m:2 = "tt.scan"(%k, %j) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%v: f32, %vi: i32, %w: f32, %wi: i32):
    tt.scan.return %v, %wi : f32, i32
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  tt.return %m#0, %l : tensor<64xf32>, f32
}

// CHECK-LABEL: tt.func private @shapes
tt.func private @shapes(%x: tensor<64xf32>, %i: tensor<64xi32>) {
  // CHECK: tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %a = tt.expand_dims %x {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  // CHECK: tt.broadcast %{{.*}} : tensor<64x1xf32> -> tensor<64x32xf32>
  %b = tt.broadcast %a : tensor<64x1xf32> -> tensor<64x32xf32>
  // CHECK: tt.trans %{{.*}} {order = array<i32: 1, 0>} : tensor<64x32xf32> -> tensor<32x64xf32>
  %c = tt.trans %b {order = array<i32: 1, 0>} : tensor<64x32xf32> -> tensor<32x64xf32>
  // CHECK: tt.reshape %{{.*}} allow_reorder efficient_layout : tensor<32x64xf32> -> tensor<2048xf32>
  %d = tt.reshape %c allow_reorder efficient_layout : tensor<32x64xf32> -> tensor<2048xf32>
  // CHECK: tt.cat %{{.*}}, %{{.*}} : tensor<64xf32> -> tensor<128xf32>
  %e = tt.cat %x, %x : tensor<64xf32> -> tensor<128xf32>
  // CHECK: tt.join %{{.*}}, %{{.*}} : tensor<64xf32> -> tensor<64x2xf32>
  %f = tt.join %x, %x : tensor<64xf32> -> tensor<64x2xf32>
  // CHECK: tt.split %{{.*}} : tensor<64x2xf32> -> tensor<64xf32>
  %g, %h = tt.split %f : tensor<64x2xf32> -> tensor<64xf32>
  // CHECK: tt.gather %{{.*}}[%{{.*}}] {axis = 0 : i32} : (tensor<64xf32>, tensor<64xi32>) -> tensor<64xf32>
  %j = tt.gather %x[%i] {axis = 0 : i32} : (tensor<64xf32>, tensor<64xi32>) -> tensor<64xf32>
  // CHECK: tt.histogram %{{.*}} : tensor<64xi32> -> tensor<32xi32>
  %k = tt.histogram %i : tensor<64xi32> -> tensor<32xi32>
  %one = arith.constant dense<1> : tensor<1xi32>
  // CHECK: tt.unsplat %{{.*}} : tensor<1xi32>
  %l = tt.unsplat %one : tensor<1xi32>
  tt.return
}

// CHECK-LABEL: tt.func public @blocks
tt.func public @blocks(%x: !tt.ptr<f32>, %m: i32, %n: i64, %rows: tensor<8xi32>) {
  %c1_i64 = arith.constant 1 : i64
  // CHECK: tt.make_tensor_descriptor %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] : <f32>, <32x32xf32>
  %d = tt.make_tensor_descriptor %x, [%m, %m], [%n, %c1_i64] : <f32>, <32x32xf32>
  // CHECK: tt.make_tensor_descriptor %{{.*}} {padding = 2 : i32} : <f32>, <1x32xf32>
  %g = tt.make_tensor_descriptor %x, [%m, %m], [%n, %c1_i64] {padding = 2 : i32} : <f32>, <1x32xf32>
  // CHECK: tt.descriptor_load %{{.*}}[%{{.*}}, %{{.*}}] : !tt.tensordesc<32x32xf32> -> tensor<32x32xf32>
  %v = tt.descriptor_load %d[%m, %m] : !tt.tensordesc<32x32xf32> -> tensor<32x32xf32>
  // CHECK: tt.descriptor_store %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<32x32xf32>, tensor<32x32xf32>
  tt.descriptor_store %d[%m, %m], %v : !tt.tensordesc<32x32xf32>, tensor<32x32xf32>
  // CHECK: tt.descriptor_reduce add, %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<32x32xf32>, tensor<32x32xf32>
  tt.descriptor_reduce add, %d[%m, %m], %v : !tt.tensordesc<32x32xf32>, tensor<32x32xf32>
  // CHECK: tt.descriptor_gather %{{.*}}[%{{.*}}, %{{.*}}] : (!tt.tensordesc<1x32xf32>, tensor<8xi32>, i32) -> tensor<8x32xf32>
  %r = tt.descriptor_gather %g[%rows, %m] : (!tt.tensordesc<1x32xf32>, tensor<8xi32>, i32) -> tensor<8x32xf32>
  // CHECK: tt.descriptor_scatter %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : !tt.tensordesc<1x32xf32>, tensor<8xi32>, i32, tensor<8x32xf32>
  tt.descriptor_scatter %g[%rows, %m], %r : !tt.tensordesc<1x32xf32>, tensor<8xi32>, i32, tensor<8x32xf32>
  // CHECK: tt.make_tensor_ptr %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}] {order = array<i32: 1, 0>} : <tensor<64x32xf32>>
  %b = tt.make_tensor_ptr %x, [%n, %n], [%n, %c1_i64], [%m, %m] {order = array<i32: 1, 0>} : <tensor<64x32xf32>>
  // CHECK: tt.advance %{{.*}}, [%{{.*}}, %{{.*}}] : <tensor<64x32xf32>>
  %c = tt.advance %b, [%m, %m] : <tensor<64x32xf32>>
  // CHECK: tt.load %{{.*}} {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<64x32xf32>>
  %w = tt.load %c {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<64x32xf32>>
  // CHECK: tt.store %{{.*}}, %{{.*}} {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<64x32xf32>>
  tt.store %b, %w {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<64x32xf32>>
  tt.return
}

// CHECK-LABEL: tt.func private @products
tt.func private @products(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>, %c: tensor<64x64xf32>,
                          %s: tensor<64x1xi8>, %p: tensor<64x32xf8E4M3FN>, %q: tensor<32x64xf8E5M2>) -> tensor<64x64xf32> {
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}}, inputPrecision = tf32 : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
  // CHECK: tt.dot %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} : tensor<64x32xf32>
  %e = tt.dot %a, %b, %d : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
  // CHECK: tt.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<64x32xf8E4M3FN>, tensor<64x1xi8> * tensor<32x64xf8E5M2>, tensor<64x1xi8> -> tensor<64x64xf32>
  %f = tt.dot_scaled %p scale %s, %q scale %s, %e lhs = e4m3 rhs = e5m2 {fastMath = false} : tensor<64x32xf8E4M3FN>, tensor<64x1xi8> * tensor<32x64xf8E5M2>, tensor<64x1xi8> -> tensor<64x64xf32>
  // CHECK: tt.call @products(
  %g = tt.call @products(%a, %b, %f, %s, %p, %q) : (tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<64x1xi8>, tensor<64x32xf8E4M3FN>, tensor<32x64xf8E5M2>) -> tensor<64x64xf32>
  tt.return %g : tensor<64x64xf32>
}
