// A group of the kind `group`: what its kernel holds, what its schedule may not say, and groups that no kernel computes.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),convert-linalg-to-tile{chip=sm_80})' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The sum of a row of 48 stays in the program: one load, one store.
// CHECK-LABEL: func.func @centred
// CHECK: tile.launch @group_0 grid(%{{.*}}) ins(%{{.*}} : tensor<64x48xf32>) outs(%{{.*}} : tensor<64x48xf32>)
// CHECK-NOT: tile.launch
// CHECK: tile.kernel private @group_0
// CHECK-SAME: schedule = #schedule, warps = 4 : i32
// CHECK: tile.reduce {arith.addf} {{.*}} : tensor<4x64xf32> -> tensor<4xf32>
// CHECK-COUNT-1: tile.store
// CHECK-NOT: tile.store
func.func @centred(%a: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %g = tile.group ins(%a : tensor<64x48xf32>) meets [register, shared]
      schedule #tile.schedule<kind = "group", block = [4, 64]> -> tensor<64x48xf32> {
  ^bb0(%x: tensor<64x48xf32>):
    %e = tensor.empty() : tensor<64xf32>
    %z = arith.constant 0.0 : f32
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<64x48xf32>) outs(%f : tensor<64xf32>) {
    ^bb0(%v: f32, %o: f32):
      %t = arith.addf %o, %v : f32
      linalg.yield %t : f32
    } -> tensor<64xf32>
    %e2 = tensor.empty() : tensor<64x48xf32>
    %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<64x48xf32>, tensor<64xf32>) outs(%e2 : tensor<64x48xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %t = arith.subf %v, %w : f32
      linalg.yield %t : f32
    } -> tensor<64x48xf32>
    tile.yield %r : tensor<64x48xf32>
  }
  return %g : tensor<64x48xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @dimensions(%a: tensor<64x48xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{schedule: `block` has 3 sizes; one for each of the group's 2 dimensions is required}}
  %g = tile.group ins(%a : tensor<64x48xf32>) schedule #tile.schedule<kind = "group", block = [4, 64, 2]> -> tensor<64xf32> {
  ^bb0(%x: tensor<64x48xf32>):
    %e = tensor.empty() : tensor<64xf32>
    %z = arith.constant 0.0 : f32
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<64x48xf32>) outs(%f : tensor<64xf32>) {
    ^bb0(%v: f32, %o: f32):
      %t = arith.addf %o, %v : f32
      linalg.yield %t : f32
    } -> tensor<64xf32>
    tile.yield %s : tensor<64xf32>
  }
  return %g : tensor<64xf32>
}

// -----

func.func @power_of_two(%a: tensor<64x48xf32>) -> tensor<64x48xf32> {
  // expected-error @+1 {{schedule: a block is no power of two, which a GPU's kernel requires}}
  %g = tile.group ins(%a : tensor<64x48xf32>) schedule #tile.schedule<kind = "group", block = [4, 48]> -> tensor<64x48xf32> {
  ^bb0(%x: tensor<64x48xf32>):
    %e = tensor.empty() : tensor<64x48xf32>
    %s = linalg.softmax dimension(1) ins(%x : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
    tile.yield %s : tensor<64x48xf32>
  }
  return %g : tensor<64x48xf32>
}

// -----

// A softmax walks rows that are longer than their block: maxima, sums, results.
// CHECK-LABEL: func.func @part_of_a_row
// CHECK: tile.kernel private @group_0
// CHECK: scf.for
// CHECK: tile.reduce {arith.maximumf} {{.*}} : tensor<4x32xf32> -> tensor<4xf32>
// CHECK: scf.for
// CHECK: tile.reduce {arith.addf} {{.*}} : tensor<4x32xf32> -> tensor<4xf32>
// CHECK: scf.for
// CHECK: tile.store {{.*}} : tensor<4x32xf32>
func.func @part_of_a_row(%a: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %g = tile.group ins(%a : tensor<64x48xf32>) schedule #tile.schedule<kind = "group", block = [4, 32]> -> tensor<64x48xf32> {
  ^bb0(%x: tensor<64x48xf32>):
    %e = tensor.empty() : tensor<64x48xf32>
    %s = linalg.softmax dimension(1) ins(%x : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
    tile.yield %s : tensor<64x48xf32>
  }
  return %g : tensor<64x48xf32>
}

// -----

// Programs along n would all store the exponentials.
func.func @stored_by_many(%a: tensor<64x48xf32>, %b: tensor<48x96xf32>) -> (tensor<64x96xf32>, tensor<64x48xf32>) {
  // expected-error @+1 {{schedule: several programs would store one result}}
  %g:2 = tile.group ins(%a, %b : tensor<64x48xf32>, tensor<48x96xf32>)
      schedule #tile.schedule<kind = "group", block = [16, 64, 32]> -> tensor<64x96xf32>, tensor<64x48xf32> {
  ^bb0(%x: tensor<64x48xf32>, %y: tensor<48x96xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x48xf32>
    %r = linalg.exp ins(%x : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
    %e2 = tensor.empty() : tensor<64x96xf32>
    %f = linalg.fill ins(%z : f32) outs(%e2 : tensor<64x96xf32>) -> tensor<64x96xf32>
    %p = linalg.matmul ins(%r, %y : tensor<64x48xf32>, tensor<48x96xf32>) outs(%f : tensor<64x96xf32>) -> tensor<64x96xf32>
    tile.yield %p, %r : tensor<64x96xf32>, tensor<64x48xf32>
  }
  return %g#0, %g#1 : tensor<64x96xf32>, tensor<64x48xf32>
}

// -----

// A matrix times its own transpose takes two parts of the exponentials.
// CHECK-LABEL: func.func @two_parts
// CHECK-COUNT-2: tile.launch
// CHECK-NOT: tile.group
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @two_parts(%a: tensor<64x48xf32>) -> tensor<64x64xf32> {
  // expected-remark @+1 {{becomes one kernel for each op: an op takes two different parts of one tensor of the group}}
  %g = tile.group ins(%a : tensor<64x48xf32>) schedule #tile.schedule<kind = "group", block = [16, 64, 32]> -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x48xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x48xf32>
    %r = linalg.exp ins(%x : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
    %e2 = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e2 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%r, %r : tensor<64x48xf32>, tensor<64x48xf32>) outs(%f : tensor<64x64xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %t = arith.mulf %v, %w : f32
      %u = arith.addf %o, %t : f32
      linalg.yield %u : f32
    } -> tensor<64x64xf32>
    tile.yield %p : tensor<64x64xf32>
  }
  return %g : tensor<64x64xf32>
}

// -----

// A sum that adds to a tensor.
// CHECK-LABEL: func.func @adds
// CHECK-NOT: tile.group
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @adds(%a: tensor<64x48xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
  // expected-remark @+1 {{becomes one kernel for each op: a fold starts from a tensor; a group accepts folds that start from a constant}}
  %g = tile.group ins(%a, %b : tensor<64x48xf32>, tensor<64xf32>)
      schedule #tile.schedule<kind = "group", block = [4, 64]> -> tensor<64xf32> {
  ^bb0(%x: tensor<64x48xf32>, %y: tensor<64xf32>):
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<64x48xf32>) outs(%y : tensor<64xf32>) {
    ^bb0(%v: f32, %o: f32):
      %t = arith.addf %o, %v : f32
      linalg.yield %t : f32
    } -> tensor<64xf32>
    tile.yield %s : tensor<64xf32>
  }
  return %g : tensor<64xf32>
}

// -----

// A body that takes elements of another op's result by their places takes them from memory.
// CHECK-LABEL: func.func @picked
// CHECK-COUNT-2: tile.launch
// CHECK-NOT: tile.group
#id = affine_map<(i, j) -> (i, j)>
func.func @picked(%a: tensor<7x4xi32>, %b: tensor<7x5xf32>) -> (tensor<7x4xi32>, tensor<7x4xf32>) {
  // expected-remark @+1 {{becomes one kernel for each op: an op takes elements of another op's result by their places}}
  %g:2 = tile.group ins(%a, %b : tensor<7x4xi32>, tensor<7x5xf32>) schedule #tile.schedule<kind = "group", block = [1, 4]>
      -> tensor<7x4xi32>, tensor<7x4xf32> {
  ^bb0(%x: tensor<7x4xi32>, %y: tensor<7x5xf32>):
    %one = arith.constant 1 : i32
    %e = tensor.empty() : tensor<7x4xi32>
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<7x4xi32>) outs(%e : tensor<7x4xi32>) {
    ^bb0(%v: i32, %o: i32):
      %t = arith.addi %v, %one : i32
      linalg.yield %t : i32
    } -> tensor<7x4xi32>
    %f = tensor.empty() : tensor<7x4xf32>
    %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%f : tensor<7x4xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = tensor.extract %next[%i, %j] : tensor<7x4xi32>
      %l = arith.index_cast %k : i32 to index
      %t = tensor.extract %y[%i, %l] : tensor<7x5xf32>
      linalg.yield %t : f32
    } -> tensor<7x4xf32>
    tile.yield %next, %r : tensor<7x4xi32>, tensor<7x4xf32>
  }
  return %g#0, %g#1 : tensor<7x4xi32>, tensor<7x4xf32>
}
