// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-quantize-activations,cse,canonicalize))' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-quantize-activations{per=row},cse,canonicalize))' | FileCheck %s --check-prefix=ROW
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-quantize-activations{remarks=true}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-quantize-activations{per=column}))' 2>&1 | FileCheck %s --check-prefix=PER

// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-generalize-named-ops),tile-group-ops{ops=elementwise},func.func(canonicalize,tile-quantize-activations))' | FileCheck %s --check-prefix=CHAIN

// PER: error: {{.*}}per is 'column'; accepts group and row

// Bytes in groups of 4 with a zero for each group: the rows' codes are divided by their largest number, the products
// are sums of integers, and scale and step follow for each group.
// CHECK-LABEL: func.func @groups
// CHECK: arith.maximumf {{.*}} : f32
// CHECK: math.roundeven
// CHECK: arith.fptosi {{.*}} : f32 to i8
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<5x2x4xi8>, tensor<5x2xi8>) outs(%{{.*}} : tensor<5x2x4xi16>)
// CHECK: arith.subi {{.*}} : i16
// CHECK: "parallel", "parallel", "parallel", "reduction"
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<3x2x4xi8>, tensor<5x2x4xi16>) outs(%{{.*}} : tensor<3x5x2xi32>)
// CHECK: arith.muli {{.*}} : i32
// CHECK: ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<5x2xf32>, tensor<3x5x2xi32>, tensor<3x2xf32>) outs(%{{.*}} : tensor<3x5xf32>)
// CHECK: arith.sitofp {{.*}} : i32 to f32
// ROW-LABEL: func.func @groups
// ROW: ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<5x2xf32>, tensor<3x5x2xi32>, tensor<3xf32>)
// REMARK: remark: multiplies rows of i8, a step for each group, by codes in groups of 4
func.func @groups(%x: tensor<3x8xf32>, %p: tensor<5x8xi8>, %s: tensor<5x2xf32>, %z: tensor<5x2xi8>, %c: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %q = tensor.expand_shape %p [[0], [1, 2]] output_shape [5, 2, 4] : tensor<5x8xi8> into tensor<5x2x4xi8>
  %e = tensor.empty() : tensor<5x2x4xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %s, %z : tensor<5x2x4xi8>, tensor<5x2xf32>, tensor<5x2xi8>) outs(%e : tensor<5x2x4xf32>) {
  ^bb0(%a: i8, %b: f32, %d: i8, %o: f32):
    %f = arith.uitofp %a : i8 to f32
    %g = arith.uitofp %d : i8 to f32
    %h = arith.subf %f, %g : f32
    %y = arith.mulf %b, %h : f32
    linalg.yield %y : f32
  } -> tensor<5x2x4xf32>
  %v = tensor.collapse_shape %w [[0], [1, 2]] : tensor<5x2x4xf32> into tensor<5x8xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %v : tensor<3x8xf32>, tensor<5x8xf32>) outs(%c : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// A long sum of large products takes 64 bits.
// CHECK-LABEL: func.func @long
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x2x1xi64>)
// REMARK: remark: multiplies rows of i8, a step for each group, by codes in groups of 70000
func.func @long(%x: tensor<1x70000xf32>, %p: tensor<2x70000xi8>, %s: tensor<2xf32>, %c: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %e = tensor.empty() : tensor<2x70000xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n)>, affine_map<(n, k) -> (n, k)>],
      iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<2x70000xi8>, tensor<2xf32>) outs(%e : tensor<2x70000xf32>) {
  ^bb0(%a: i8, %b: f32, %o: f32):
    %f = arith.uitofp %a : i8 to f32
    %y = arith.mulf %f, %b : f32
    linalg.yield %y : f32
  } -> tensor<2x70000xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<1x70000xf32>, tensor<2x70000xf32>) outs(%c : tensor<1x2xf32>) -> tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}

// Numbers of a table are no integers.
// CHECK-LABEL: func.func @table
// CHECK-NOT: i32
// CHECK: linalg.matmul
// REMARK: remark: stays a product of floats: its weights are no integers of at most 16 bits times scales of groups of k
func.func @table(%x: tensor<3x8xf32>, %p: tensor<5x8xi8>, %c: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %t = arith.constant dense<[0.0, 1.0, -2.0, 4.5]> : tensor<4xf32>
  %e = tensor.empty() : tensor<5x8xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<5x8xi8>) outs(%e : tensor<5x8xf32>) {
  ^bb0(%a: i8, %o: f32):
    %i = arith.index_castui %a : i8 to index
    %y = tensor.extract %t[%i] : tensor<4xf32>
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<3x8xf32>, tensor<5x8xf32>) outs(%c : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// A scale for each weight is no scale of a group.
// CHECK-LABEL: func.func @own_scales
// CHECK: linalg.matmul
// REMARK: remark: stays a product of floats
func.func @own_scales(%x: tensor<3x8xf32>, %p: tensor<5x8xi8>, %s: tensor<5x8xf32>, %c: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<5x8xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<5x8xi8>, tensor<5x8xf32>) outs(%e : tensor<5x8xf32>) {
  ^bb0(%a: i8, %b: f32, %o: f32):
    %f = arith.uitofp %a : i8 to f32
    %y = arith.mulf %f, %b : f32
    linalg.yield %y : f32
  } -> tensor<5x8xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<3x8xf32>, tensor<5x8xf32>) outs(%c : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// A conversion of several ops, as importers write it: only once the ops are one.
// CHECK-LABEL: func.func @chain
// CHECK: linalg.matmul
// CHAIN-LABEL: func.func @chain
// CHAIN: arith.fptosi {{.*}} : f32 to i8
// CHAIN: linalg.generic {{.*}} outs(%{{.*}} : tensor<3x5x2xi32>)
func.func @chain(%x: tensor<3x8xf32>, %p: tensor<5x2x4xi8>, %s: tensor<5x2xf32>, %c: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<5x2x4xf32>
  %f = linalg.generic {indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<5x2x4xi8>) outs(%e : tensor<5x2x4xf32>) {
  ^bb0(%a: i8, %o: f32):
    %y = arith.sitofp %a : i8 to f32
    linalg.yield %y : f32
  } -> tensor<5x2x4xf32>
  %w = linalg.generic {indexing_maps = [affine_map<(n, g, k) -> (n, g, k)>, affine_map<(n, g, k) -> (n, g)>, affine_map<(n, g, k) -> (n, g, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%f, %s : tensor<5x2x4xf32>, tensor<5x2xf32>) outs(%e : tensor<5x2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %y = arith.mulf %a, %b : f32
    linalg.yield %y : f32
  } -> tensor<5x2x4xf32>
  %v = tensor.collapse_shape %w [[0], [1, 2]] : tensor<5x2x4xf32> into tensor<5x8xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %v : tensor<3x8xf32>, tensor<5x8xf32>) outs(%c : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}
