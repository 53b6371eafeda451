// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-find-low-bit,canonicalize))' --split-input-file | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-find-low-bit{rows=2},canonicalize))' --split-input-file | FileCheck %s --check-prefix=TWO

// Nibbles in groups of 8: k = (group, byte, nibble). The rows are copied so that nibbles of one shift are neighbours.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3, d4)>
// CHECK-DAG: #[[CODES:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d4)>
// CHECK-DAG: #[[SHIFTS:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3)>
// CHECK-DAG: #[[SCALES:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2)>
// CHECK-LABEL: func @nibbles
// CHECK-SAME: (%[[X0:.*]]: tensor<3x16xf32>, %[[P:.*]]: tensor<5x8xi8>, %[[S:.*]]: tensor<5x2xf32>
// CHECK: %[[XE:.*]] = tensor.expand_shape %[[X0]] {{.*}} into tensor<3x2x4x2xf32>
// CHECK: %[[XS:.*]] = linalg.generic {indexing_maps = [#[[ROWS]]
// CHECK: %[[PE:.*]] = tensor.expand_shape %[[P]] {{.*}} into tensor<5x2x4xi8>
// CHECK: linalg.generic {indexing_maps = [#[[X]], #[[CODES]], #[[SHIFTS]], #[[SCALES]],
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%[[XS]], %[[PE]], %{{.*}}, %[[S]] :
// CHECK: arith.shrui
// CHECK: arith.andi
// CHECK: arith.uitofp
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// Converting a weight three times is too often where `rows` says two.
// TWO-LABEL: func @nibbles
// TWO: tensor<5x2x8xf32>
func.func @nibbles(%x: tensor<3x16xf32>, %p: tensor<5x8xi8>, %s: tensor<5x2xf32>, %c: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %shifts = arith.constant dense<[0, 4]> : tensor<2xi8>
  %mask = arith.constant 15 : i8
  %ue = tensor.empty() : tensor<5x8x2xi8>
  %u = linalg.generic {indexing_maps = [affine_map<(n, k, t) -> (n, k)>, affine_map<(n, k, t) -> (t)>, affine_map<(n, k, t) -> (n, k, t)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%p, %shifts : tensor<5x8xi8>, tensor<2xi8>) outs(%ue : tensor<5x8x2xi8>) {
  ^bb0(%a: i8, %t: i8, %o: i8):
    %v = arith.shrui %a, %t : i8
    %vm = arith.andi %v, %mask : i8
    linalg.yield %vm : i8
  } -> tensor<5x8x2xi8>
  %uc = tensor.collapse_shape %u [[0], [1, 2]] : tensor<5x8x2xi8> into tensor<5x16xi8>
  %q = tensor.expand_shape %uc [[0], [1, 2]] output_shape [5, 2, 8] : tensor<5x16xi8> into tensor<5x2x8xi8>
  %we = tensor.empty() : tensor<5x2x8xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %s : tensor<5x2x8xi8>, tensor<5x2xf32>) outs(%we : tensor<5x2x8xf32>) {
  ^bb0(%a: i8, %b: f32, %o: f32):
    %d = arith.uitofp %a : i8 to f32
    %y = arith.mulf %d, %b : f32
    linalg.yield %y : f32
  } -> tensor<5x2x8xf32>
  %b = tensor.collapse_shape %w [[0], [1, 2]] : tensor<5x2x8xf32> into tensor<5x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %b : tensor<3x16xf32>, tensor<5x16xf32>) outs(%c : tensor<3x5xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %pr = arith.mulf %a0, %a1 : f32
    %sm = arith.addf %o, %pr : f32
    linalg.yield %sm : f32
  } -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// -----

// What is no smaller stays: the product of a rectified weight.
// CHECK-LABEL: func @rectified
// CHECK: linalg.generic
// CHECK: linalg.generic
#id = affine_map<(n, k) -> (n, k)>
func.func @rectified(%x: tensor<1x16xf32>, %w: tensor<5x16xf32>, %c: tensor<1x5xf32>) -> tensor<1x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x16xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<5x16xf32>) outs(%e : tensor<5x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = arith.maximumf %a, %zero : f32
    linalg.yield %y : f32
  } -> tensor<5x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %b : tensor<1x16xf32>, tensor<5x16xf32>) outs(%c : tensor<1x5xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %pr = arith.mulf %a0, %a1 : f32
    %sm = arith.addf %o, %pr : f32
    linalg.yield %sm : f32
  } -> tensor<1x5xf32>
  return %r : tensor<1x5xf32>
}

// -----

// Weights that somebody else reads too are made anyway, and groups of 3 and of 4 are no chain of divisors.
// CHECK-LABEL: func @used_twice
// CHECK: %[[W:.*]] = linalg.generic
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[W]] :
// CHECK-LABEL: func @crossed
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<5x3x4xi8>, tensor<5x3xf32>)
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<1x12xf32>, tensor<5x12xf32>)
func.func @used_twice(%x: tensor<1x16xf32>, %w: tensor<5x16xi8>, %c: tensor<1x5xf32>) -> (tensor<1x5xf32>, tensor<5x16xf32>) {
  %e = tensor.empty() : tensor<5x16xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<5x16xi8>) outs(%e : tensor<5x16xf32>) {
  ^bb0(%a: i8, %o: f32):
    %y = arith.sitofp %a : i8 to f32
    linalg.yield %y : f32
  } -> tensor<5x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %b : tensor<1x16xf32>, tensor<5x16xf32>) outs(%c : tensor<1x5xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %pr = arith.mulf %a0, %a1 : f32
    %sm = arith.addf %o, %pr : f32
    linalg.yield %sm : f32
  } -> tensor<1x5xf32>
  return %r, %b : tensor<1x5xf32>, tensor<5x16xf32>
}

#rows = affine_map<(n, g, k) -> (n, g, k)>
func.func @crossed(%x: tensor<1x12xf32>, %w: tensor<5x12xi8>, %s: tensor<5x4xf32>, %t: tensor<5x3xf32>, %c: tensor<1x5xf32>) -> tensor<1x5xf32> {
  %four = tensor.expand_shape %w [[0], [1, 2]] output_shape [5, 4, 3] : tensor<5x12xi8> into tensor<5x4x3xi8>
  %e = tensor.empty() : tensor<5x4x3xi8>
  %b = linalg.generic {indexing_maps = [#rows, affine_map<(n, g, k) -> (n, g)>, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%four, %s : tensor<5x4x3xi8>, tensor<5x4xf32>) outs(%e : tensor<5x4x3xi8>) {
  ^bb0(%a: i8, %q: f32, %o: i8):
    %i = arith.fptosi %q : f32 to i8
    %y = arith.subi %a, %i : i8
    linalg.yield %y : i8
  } -> tensor<5x4x3xi8>
  %flat = tensor.collapse_shape %b [[0], [1, 2]] : tensor<5x4x3xi8> into tensor<5x12xi8>
  %three = tensor.expand_shape %flat [[0], [1, 2]] output_shape [5, 3, 4] : tensor<5x12xi8> into tensor<5x3x4xi8>
  %e3 = tensor.empty() : tensor<5x3x4xf32>
  %d = linalg.generic {indexing_maps = [#rows, affine_map<(n, g, k) -> (n, g)>, #rows], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%three, %t : tensor<5x3x4xi8>, tensor<5x3xf32>) outs(%e3 : tensor<5x3x4xf32>) {
  ^bb0(%a: i8, %q: f32, %o: f32):
    %i = arith.sitofp %a : i8 to f32
    %y = arith.mulf %i, %q : f32
    linalg.yield %y : f32
  } -> tensor<5x3x4xf32>
  %m = tensor.collapse_shape %d [[0], [1, 2]] : tensor<5x3x4xf32> into tensor<5x12xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %m : tensor<1x12xf32>, tensor<5x12xf32>) outs(%c : tensor<1x5xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %pr = arith.mulf %a0, %a1 : f32
    %sm = arith.addf %o, %pr : f32
    linalg.yield %sm : f32
  } -> tensor<1x5xf32>
  return %r : tensor<1x5xf32>
}

// -----

// Parts of a byte that are stacked: a table of their numbers says which one a code is. A slice that leaves a part out is
// no stack.
// CHECK-LABEL: func @stacked
// CHECK: %[[N:.*]] = arith.constant dense<[0, 1]> : tensor<2xi8>
// CHECK-NOT: tensor.insert_slice
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[N]], %{{.*}} : tensor<1x2x8xf32>, tensor<2xi8>, tensor<5x8xi8>)
// CHECK: arith.select
// CHECK-LABEL: func @half_stacked
// CHECK: tensor.insert_slice
#id = affine_map<(n, k) -> (n, k)>
func.func @stacked(%x: tensor<1x16xf32>, %p: tensor<5x8xi8>, %c: tensor<1x5xf32>) -> tensor<1x5xf32> {
  %mask = arith.constant 15 : i8
  %e = tensor.empty() : tensor<5x8xi8>
  %s = tensor.empty() : tensor<5x8x2xi8>
  %lo = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<5x8xi8>) outs(%e : tensor<5x8xi8>) {
  ^bb0(%a: i8, %o: i8):
    %y = arith.andi %a, %mask : i8
    linalg.yield %y : i8
  } -> tensor<5x8xi8>
  %0 = tensor.insert_slice %lo into %s[0, 0, 0] [5, 8, 1] [1, 1, 1] : tensor<5x8xi8> into tensor<5x8x2xi8>
  %1 = tensor.insert_slice %p into %0[0, 0, 1] [5, 8, 1] [1, 1, 1] : tensor<5x8xi8> into tensor<5x8x2xi8>
  %q = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<5x8x2xi8> into tensor<5x16xi8>
  %f = tensor.empty() : tensor<5x16xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<5x16xi8>) outs(%f : tensor<5x16xf32>) {
  ^bb0(%a: i8, %o: f32):
    %y = arith.uitofp %a : i8 to f32
    linalg.yield %y : f32
  } -> tensor<5x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %b : tensor<1x16xf32>, tensor<5x16xf32>) outs(%c : tensor<1x5xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %pr = arith.mulf %a0, %a1 : f32
    %sm = arith.addf %o, %pr : f32
    linalg.yield %sm : f32
  } -> tensor<1x5xf32>
  return %r : tensor<1x5xf32>
}

func.func @half_stacked(%x: tensor<1x16xf32>, %p: tensor<5x8xi8>, %s: tensor<5x8x2xi8>, %c: tensor<1x5xf32>) -> tensor<1x5xf32> {
  %1 = tensor.insert_slice %p into %s[0, 0, 1] [5, 8, 1] [1, 1, 1] : tensor<5x8xi8> into tensor<5x8x2xi8>
  %q = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<5x8x2xi8> into tensor<5x16xi8>
  %f = tensor.empty() : tensor<5x16xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<5x16xi8>) outs(%f : tensor<5x16xf32>) {
  ^bb0(%a: i8, %o: f32):
    %y = arith.uitofp %a : i8 to f32
    linalg.yield %y : f32
  } -> tensor<5x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %b : tensor<1x16xf32>, tensor<5x16xf32>) outs(%c : tensor<1x5xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %pr = arith.mulf %a0, %a1 : f32
    %sm = arith.addf %o, %pr : f32
    linalg.yield %sm : f32
  } -> tensor<1x5xf32>
  return %r : tensor<1x5xf32>
}

// -----

// Scales of 8 bits that need arithmetic are widened once, before the product; codes stay as they are.
// CHECK-LABEL: func @narrow_scales
// CHECK-SAME: (%[[X:.*]]: tensor<4x64xf32>, %[[W:.*]]: tensor<16x4x16xf8E4M3FN>, %[[S:.*]]: tensor<16x4xf8E4M3FN>)
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<16x4xf8E4M3FN>) outs({{.*}} : tensor<16x4xf32>)
// CHECK: linalg.generic {{.*}} ins({{.*}}, %[[W]], %[[WIDE]] : tensor<4x4x16xf32>, tensor<16x4x16xf8E4M3FN>, tensor<16x4xf32>)
// CHECK: arith.extf {{.*}} : f8E4M3FN to f32
// CHECK-NOT: arith.extf
// CHECK: arith.mulf
// CHECK: arith.addf
func.func @narrow_scales(%x: tensor<4x64xf32>, %w: tensor<16x4x16xf8E4M3FN>, %s: tensor<16x4xf8E4M3FN>) -> tensor<4x16xf32> {
  %e = tensor.empty() : tensor<16x4x16xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %s : tensor<16x4x16xf8E4M3FN>, tensor<16x4xf8E4M3FN>) outs(%e : tensor<16x4x16xf32>) {
  ^bb0(%c: f8E4M3FN, %r: f8E4M3FN, %o: f32):
    %code = arith.extf %c : f8E4M3FN to f32
    %ratio = arith.extf %r : f8E4M3FN to f32
    %p = arith.mulf %code, %ratio : f32
    linalg.yield %p : f32
  } -> tensor<16x4x16xf32>
  %f = tensor.collapse_shape %d [[0], [1, 2]] : tensor<16x4x16xf32> into tensor<16x64xf32>
  %zero = arith.constant 0.0 : f32
  %m = tensor.empty() : tensor<4x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%m : tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %f : tensor<4x64xf32>, tensor<16x64xf32>) outs(%z : tensor<4x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}

// -----

// A zero of rank 0, read from a tensor of one element: the product reads that tensor and the codes.
// CHECK-DAG: #[[CODES:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[ZERO:.*]] = affine_map<(d0, d1, d2) -> (0)>
// CHECK-LABEL: func @one_zero
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xi32>, %[[W:.*]]: tensor<2x3xi8>, %[[Z:.*]]: tensor<1xi8>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[CODES]], #[[ZERO]], #{{.*}}]
// CHECK-SAME: ins(%[[X]], %[[W]], %[[Z]] : tensor<4x3xi32>, tensor<2x3xi8>, tensor<1xi8>)
func.func @one_zero(%x: tensor<4x3xi32>, %w: tensor<2x3xi8>, %z: tensor<1xi8>, %c: tensor<4x2xi32>) -> tensor<4x2xi32> {
  %z0 = tensor.collapse_shape %z [] : tensor<1xi8> into tensor<i8>
  %e = tensor.empty() : tensor<2x3xi32>
  %d = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> ()>, affine_map<(n, k) -> (n, k)>],
      iterator_types = ["parallel", "parallel"]} ins(%w, %z0 : tensor<2x3xi8>, tensor<i8>) outs(%e : tensor<2x3xi32>) {
  ^bb0(%a: i8, %b: i8, %o: i32):
    %aw = arith.extui %a : i8 to i32
    %bw = arith.extui %b : i8 to i32
    %s = arith.subi %aw, %bw : i32
    linalg.yield %s : i32
  } -> tensor<2x3xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %d : tensor<4x3xi32>, tensor<2x3xi32>) outs(%c : tensor<4x2xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %p = arith.muli %a, %b : i32
    %s = arith.addi %o, %p : i32
    linalg.yield %s : i32
  } -> tensor<4x2xi32>
  return %r : tensor<4x2xi32>
}
