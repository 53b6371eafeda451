// RUN: %tile_opt %s --convert-tt-to-tile --canonicalize --cse --split-input-file | FileCheck %s
// RUN: %tile_translate %source/test/run/triton/Inputs/add.ttir --import-ttir | FileCheck %s --check-prefix=IMPORT

// IMPORT: tile.kernel private @add(%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: i32, %{{.*}}: memref<?xf32>)
// IMPORT: func.func @launch_add(%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: i32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index)

// A pointer is a memref and an index; a mask without a value for where it is false leaves poison; what is written
// comes last; a call is inlined.
// CHECK-LABEL: tile.kernel private @masked(%arg0: memref<?xf32>, %arg1: i32, %arg2: memref<?xf32>)
// CHECK-DAG: %[[P:.*]] = ub.poison : tensor<64xf32>
// CHECK-DAG: tile.assume %arg1 divisible 16 : i32
// CHECK-DAG: %[[AT:.*]] = arith.index_cast %{{.*}} : tensor<64xi32> to tensor<64xindex>
// CHECK: tile.gather %arg0[%[[AT]]] mask %[[M:.*]] other %[[P]] bounds(trap)
// CHECK: math.rsqrt
// CHECK: tile.scatter %{{.*}}, %arg2[%[[AT]]] mask %[[M]] bounds(trap)
// CHECK-LABEL: func.func @launch_masked(%arg0: memref<?xf32>, %arg1: memref<?xf32>, %arg2: i32, %arg3: index, %arg4: index, %arg5: index)
// CHECK: tile.launch @masked grid(%arg3, %arg4, %arg5) ins(%arg1, %arg2 : memref<?xf32>, i32) outs(%arg0 : memref<?xf32>)
// CHECK-NOT: tt.
tt.func public @masked(%out: !tt.ptr<f32>, %x: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}) {
  %at = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %nn = tt.splat %n : i32 -> tensor<64xi32>
  %m = arith.cmpi slt, %at, %nn : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %xp, %m : tensor<64x!tt.ptr<f32>>
  %w = tt.call @root(%v) : (tensor<64xf32>) -> tensor<64xf32>
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %op, %w, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}
tt.func private @root(%x: tensor<64xf32>) -> tensor<64xf32> attributes {noinline = true} {
  %y = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_rsqrtf"} : (tensor<64xf32>) -> tensor<64xf32>
  tt.return %y : tensor<64xf32>
}

// -----

// Dimensions of size 1 vanish: arithmetic on 64x1 is arithmetic on 64 elements. A loop carries the offset of a pointer
// and counts in index; its hints stay. An early return is a condition.
// CHECK-LABEL: tile.kernel private @loop
// CHECK: scf.if
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %{{.*}} : tensor<64xi32>
// CHECK: tile.broadcast %{{.*}} axes [1] : tensor<64xindex> -> tensor<64x32xindex>
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c1 iter_args(%[[AT:.*]] = %{{.*}}) -> (tensor<64x32xindex>) {
// CHECK: tile.gather %{{.*}}[%[[AT]]] bounds(trap)
// CHECK: arith.addi %[[AT]], %{{.*}} : tensor<64x32xindex>
// CHECK: } {tt.num_stages = 3 : i32}
tt.func public @loop(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %stride: i32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<32> : tensor<64x32xi32>
  %none = arith.cmpi sle, %n, %c0 : i32
  cf.cond_br %none, ^early, ^go
^early:
  tt.return
^go:
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %rr = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ss = tt.splat %stride : i32 -> tensor<64x1xi32>
  %rs = arith.muli %rr, %ss : tensor<64x1xi32>
  %cc = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %p = tt.splat %x : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  %pr = tt.addptr %p, %rs : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  %pb = tt.broadcast %pr : tensor<64x1x!tt.ptr<f16>> -> tensor<64x32x!tt.ptr<f16>>
  %cb = tt.broadcast %cc : tensor<1x32xi32> -> tensor<64x32xi32>
  %q = tt.addptr %pb, %cb : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %end = scf.for %k = %c0 to %n step %c1 iter_args(%at = %q) -> (tensor<64x32x!tt.ptr<f16>>) : i32 {
    %v = tt.load %at : tensor<64x32x!tt.ptr<f16>>
    %yp = tt.splat %y : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
    %yq = tt.addptr %yp, %cb : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    tt.store %yq, %v : tensor<64x32x!tt.ptr<f16>>
    %next = tt.addptr %at, %step : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
    scf.yield %next : tensor<64x32x!tt.ptr<f16>>
  } {tt.num_stages = 3 : i32}
  tt.return
}

// -----

// A body that is no single op gets a flag, which gives any body a neutral element.
// CHECK-LABEL: tile.kernel private @largest
// CHECK: tile.reduce %{{.*}}, %{{.*}}, %{{.*}} axes [0] neutral [0.000000e+00 : f32, 0 : i32, false]
// CHECK-SAME: tensor<64xf32>, tensor<64xi32>, tensor<64xi1> -> f32, i32, i1
tt.func public @largest(%y: !tt.ptr<i32>, %x: !tt.ptr<f32>) {
  %at = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %p, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q : tensor<64x!tt.ptr<f32>>
  %m:2 = "tt.reduce"(%v, %at) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
    %gt = arith.cmpf ogt, %a, %b : f32
    %c = arith.select %gt, %a, %b : f32
    %k = arith.select %gt, %i, %j : i32
    tt.reduce.return %c, %k : f32, i32
  }) : (tensor<64xf32>, tensor<64xi32>) -> (f32, i32)
  tt.store %y, %m#1 : !tt.ptr<i32>
  tt.return
}

// -----

// Pointers that were loaded are addresses.
// CHECK-LABEL: tile.kernel private @table(%arg0: memref<?xi64>, %arg1: memref<?xf32>)
// CHECK: %[[A:.*]] = memref.load %arg0[%{{.*}}] : memref<?xi64>
// CHECK: tile.gather %{{.*}} bounds(trap) : tensor<64xi64> -> tensor<64xf32>
tt.func public @table(%t: !tt.ptr<!tt.ptr<f32>>, %y: !tt.ptr<f32>) {
  %at = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %x = tt.load %t : !tt.ptr<!tt.ptr<f32>>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %p, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q : tensor<64x!tt.ptr<f32>>
  %o = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %r = tt.addptr %o, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %r, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// Inline PTX of one known instruction is an op of arith or math.
// CHECK-LABEL: tile.kernel private @instructions
// CHECK: math.exp2 %{{.*}} : f32
// CHECK: arith.maxnumf %{{.*}}, %{{.*}} : f32
// CHECK: math.fma
// CHECK: arith.xori
tt.func public @instructions(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %x: f32, %n: i32, %m: i32) {
  %a = tt.elementwise_inline_asm "ex2.approx.f32 $0, $1;" {constraints = "=f,f", packed_element = 1 : i32, pure = true} %x : f32 -> f32
  %b = tt.elementwise_inline_asm "max.f32 $0, $1, $2;" {constraints = "=f,f,f", packed_element = 1 : i32, pure = true} %a, %x : f32, f32 -> f32
  %c = tt.elementwise_inline_asm "fma.rn.f32 $0, $1, $2, $3;" {constraints = "=f,f,f,f", packed_element = 1 : i32, pure = true} %a, %b, %x : f32, f32, f32 -> f32
  %d = tt.elementwise_inline_asm "xor.b32 $0, $1, $2;" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %n, %m : i32, i32 -> i32
  tt.store %p, %c : !tt.ptr<f32>
  tt.store %q, %d : !tt.ptr<i32>
  tt.return
}

// A function of elements is one of tiles. Both arms of a condition are computed; a number from around it is in all
// elements.
// CHECK-LABEL: tile.kernel private @mapped
// CHECK: %[[V:.*]] = tile.gather
// CHECK: %[[C:.*]] = arith.cmpf olt, %[[V]], %{{.*}} : tensor<64xf32>
// CHECK: %[[A:.*]] = arith.mulf %[[V]], %{{.*}} : tensor<64xf32>
// CHECK: %[[B:.*]] = math.exp2 %[[V]] : tensor<64xf32>
// CHECK: arith.select %[[C]], %[[A]], %[[B]] : tensor<64xi1>, tensor<64xf32>
tt.func public @mapped(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %s: f32) {
  %at = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %q = tt.addptr %p, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %q : tensor<64x!tt.ptr<f32>>
  %m = "tt.map_elementwise"(%v) <{pack = 1 : i32}> ({
  ^bb0(%a: f32):
    %limit = arith.constant 0.5 : f32
    %c = arith.cmpf olt, %a, %limit : f32
    %r = scf.if %c -> f32 {
      %b = arith.mulf %a, %s : f32
      scf.yield %b : f32
    } else {
      %e = math.exp2 %a : f32
      scf.yield %e : f32
    }
    tt.map_elementwise.return %r : f32
  }) : (tensor<64xf32>) -> tensor<64xf32>
  %o = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %w = tt.addptr %o, %at : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %w, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}
