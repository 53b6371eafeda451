// Functions that call themselves, as one launch: the results have the bits of calls by the host.
// RUN: %tile_run %s --target=emulate:sm_80 --seed=1 --out=%t.a.npy
// RUN: %tile_run %s --target=emulate:sm_80 --seed=1 --persistent=always --out=%t.b.npy --check-against=interpret --stats=%t.json
// RUN: cmp %t.a.npy %t.b.npy
// RUN: FileCheck %s < %t.json
// RUN: %tile_run %s --target=emulate:gfx942 --seed=1 --persistent=always --check-against=interpret
// RUN: %tile_run %s --entry=chain --target=emulate:sm_80 --seed=1 --out=%t.a.npy --out=%t.c.npy
// RUN: %tile_run %s --entry=chain --target=emulate:sm_80 --seed=1 --persistent=always --out=%t.b.npy --out=%t.d.npy --check-against=interpret --stats=%t.json
// RUN: cmp %t.a.npy %t.b.npy
// RUN: cmp %t.c.npy %t.d.npy
// RUN: FileCheck %s < %t.json
// RUN: %tile_run %s --entry=leaf --target=emulate:sm_80 --seed=1 --persistent=always --check-against=interpret
// RUN: not %tile_run %s --entry=deep --target=emulate:sm_80 --seed=1 --persistent=always 2>&1 | FileCheck %s --check-prefix=DEEP
// CHECK: "launches": 1,
// CHECK-NEXT: "host_waits": 1,
// DEEP: error: {{.*}}recursion.mlir:[[#@LINE+2]]:1: assertion failed: recursion of 'tree' is deeper than its 6 frames (tile.depth of the function)
// The deepest node of the tree of 13 has six calls open above it: tile.depth = 6 just suffices.
func.func private @tree(%node: index, %left: tensor<?xi32>, %right: tensor<?xi32>, %x: tensor<15x21xf32>, %w: tensor<42x21xf32>) -> tensor<1x21xf32> attributes {tile.depth = 6 : i64} {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %l32 = tensor.extract %left[%node] : tensor<?xi32>
  %is_leaf = arith.cmpi slt, %l32, %none : i32
  %r = scf.if %is_leaf -> tensor<1x21xf32> {
    %row = tensor.extract_slice %x[%node, 0] [1, 21] [1, 1] : tensor<15x21xf32> to tensor<1x21xf32>
    scf.yield %row : tensor<1x21xf32>
  } else {
    %ln = arith.index_cast %l32 : i32 to index
    %a = func.call @tree(%ln, %left, %right, %x, %w) : (index, tensor<?xi32>, tensor<?xi32>, tensor<15x21xf32>, tensor<42x21xf32>) -> tensor<1x21xf32>
    %r32 = tensor.extract %right[%node] : tensor<?xi32>
    %rn = arith.index_cast %r32 : i32 to index
    %b = func.call @tree(%rn, %left, %right, %x, %w) : (index, tensor<?xi32>, tensor<?xi32>, tensor<15x21xf32>, tensor<42x21xf32>) -> tensor<1x21xf32>
    %e = tensor.empty() : tensor<1x42xf32>
    %c1 = tensor.insert_slice %a into %e[0, 0] [1, 21] [1, 1] : tensor<1x21xf32> into tensor<1x42xf32>
    %c2 = tensor.insert_slice %b into %c1[0, 21] [1, 21] [1, 1] : tensor<1x21xf32> into tensor<1x42xf32>
    %e2 = tensor.empty() : tensor<1x21xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x21xf32>) -> tensor<1x21xf32>
    %p = linalg.matmul ins(%c2, %w : tensor<1x42xf32>, tensor<42x21xf32>) outs(%f : tensor<1x21xf32>) -> tensor<1x21xf32>
    %t = linalg.tanh ins(%p : tensor<1x21xf32>) outs(%e2 : tensor<1x21xf32>) -> tensor<1x21xf32>
    scf.yield %t : tensor<1x21xf32>
  }
  return %r : tensor<1x21xf32>
}
func.func @main(%x: tensor<15x21xf32>, %w: tensor<42x21xf32>) -> tensor<1x21xf32> {
  %left = arith.constant dense<[1, 3, -1, 5, -1, 7, -1, 9, -1, 11, -1, -1, -1]> : tensor<13xi32>
  %right = arith.constant dense<[2, 4, -1, 6, -1, 8, -1, 10, -1, 12, -1, -1, -1]> : tensor<13xi32>
  %c0 = arith.constant 0 : index
  %l = tensor.cast %left : tensor<13xi32> to tensor<?xi32>
  %r = tensor.cast %right : tensor<13xi32> to tensor<?xi32>
  %y = call @tree(%c0, %l, %r, %x, %w) : (index, tensor<?xi32>, tensor<?xi32>, tensor<15x21xf32>, tensor<42x21xf32>) -> tensor<1x21xf32>
  return %y : tensor<1x21xf32>
}
// One node more below the deepest one.
func.func @deep(%x: tensor<15x21xf32>, %w: tensor<42x21xf32>) -> tensor<1x21xf32> {
  %left = arith.constant dense<[1, 3, -1, 5, -1, 7, -1, 9, -1, 11, -1, 13, -1, -1, -1]> : tensor<15xi32>
  %right = arith.constant dense<[2, 4, -1, 6, -1, 8, -1, 10, -1, 12, -1, 14, -1, -1, -1]> : tensor<15xi32>
  %c0 = arith.constant 0 : index
  %l = tensor.cast %left : tensor<15xi32> to tensor<?xi32>
  %r = tensor.cast %right : tensor<15xi32> to tensor<?xi32>
  %y = call @tree(%c0, %l, %r, %x, %w) : (index, tensor<?xi32>, tensor<?xi32>, tensor<15x21xf32>, tensor<42x21xf32>) -> tensor<1x21xf32>
  return %y : tensor<1x21xf32>
}
// No call.
func.func @leaf(%x: tensor<15x21xf32>, %w: tensor<42x21xf32>) -> tensor<1x21xf32> {
  %left = arith.constant dense<-1> : tensor<15xi32>
  %c3 = arith.constant 3 : index
  %l = tensor.cast %left : tensor<15xi32> to tensor<?xi32>
  %y = call @tree(%c3, %l, %l, %x, %w) : (index, tensor<?xi32>, tensor<?xi32>, tensor<15x21xf32>, tensor<42x21xf32>) -> tensor<1x21xf32>
  return %y : tensor<1x21xf32>
}
// A tensor and a number change from call to call, a branch without results stands ahead of the call, the rest looks at
// what was there before, and behind a branch with a call comes another one. Two results.
func.func private @half(%n: i32, %h: tensor<3x7xf32>, %w: tensor<7x7xf32>) -> (tensor<3x7xf32>, i64) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %one64 = arith.constant 1 : i64
  %more = arith.cmpi sgt, %n, %none : i32
  %s, %count = scf.if %more -> (tensor<3x7xf32>, i64) {
    %e = tensor.empty() : tensor<3x7xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x7xf32>) -> tensor<3x7xf32>
    %p = linalg.matmul ins(%h, %w : tensor<3x7xf32>, tensor<7x7xf32>) outs(%f : tensor<3x7xf32>) -> tensor<3x7xf32>
    %below = arith.subi %n, %one : i32
    %g, %c = func.call @half(%below, %p, %w) : (i32, tensor<3x7xf32>, tensor<7x7xf32>) -> (tensor<3x7xf32>, i64)
    %d = linalg.add ins(%g, %p : tensor<3x7xf32>, tensor<3x7xf32>) outs(%e : tensor<3x7xf32>) -> tensor<3x7xf32>
    %c1 = arith.addi %c, %one64 : i64
    scf.yield %d, %c1 : tensor<3x7xf32>, i64
  } else {
    %c = arith.extsi %n : i32 to i64
    scf.yield %h, %c : tensor<3x7xf32>, i64
  }
  %odd = arith.andi %n, %one : i32
  %is_not_even = arith.cmpi ne, %odd, %none : i32
  %is_odd = arith.andi %is_not_even, %more : i1
  %r:2 = scf.if %is_odd -> (tensor<3x7xf32>, i64) {
    %rest = arith.subi %n, %two : i32
    %g, %c = func.call @half(%rest, %s, %w) : (i32, tensor<3x7xf32>, tensor<7x7xf32>) -> (tensor<3x7xf32>, i64)
    %e = tensor.empty() : tensor<3x7xf32>
    %d = linalg.sub ins(%g, %h : tensor<3x7xf32>, tensor<3x7xf32>) outs(%e : tensor<3x7xf32>) -> tensor<3x7xf32>
    %sum = arith.addi %c, %count : i64
    scf.yield %d, %sum : tensor<3x7xf32>, i64
  } else {
    scf.yield %s, %count : tensor<3x7xf32>, i64
  }
  return %r#0, %r#1 : tensor<3x7xf32>, i64
}
func.func @chain(%h: tensor<3x7xf32>, %w: tensor<7x7xf32>) -> (tensor<3x7xf32>, tensor<1xi64>) {
  %n = arith.constant 4 : i32
  %r, %c = call @half(%n, %h, %w) : (i32, tensor<3x7xf32>, tensor<7x7xf32>) -> (tensor<3x7xf32>, i64)
  %t = tensor.from_elements %c : tensor<1xi64>
  return %r, %t : tensor<3x7xf32>, tensor<1xi64>
}
