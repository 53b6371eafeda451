// What single ops say: constants, fills, padding, selects by positions; and what the largest rectangles are.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --sparse-find-attributes | FileCheck %s

// Columns 1 and 3 are zero, of either sign; an infinity is not zero. An op that reads unknown tensors says nothing.
// CHECK-LABEL: func.func @columns
// CHECK: arith.constant {sparse.attribute = #sparse.attribute<grain = [1, 1], zero = dense<{{\[\[}}false, true, false, true], [false, true, true, true]]> : tensor<2x4xi1>>}
// CHECK: linalg.matmul ins
func.func @columns(%x: tensor<3x2xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %w = arith.constant dense<[[1.0, 0.0, 0x7F800000, -0.0], [2.0, 0.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %r = linalg.matmul ins(%x, %w : tensor<3x2xf32>, tensor<2x4xf32>) outs(%y : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// Blocks of 2 by 3; the last ones are cut off.
// CHECK-LABEL: func.func @blocks
// CHECK: grain = [2, 3], zero = dense<{{\[\[}}true, false], [false, true]]> : tensor<2x2xi1>
func.func @blocks() -> tensor<3x5xi32> {
  %w = arith.constant dense<[[0, 0, 0, 1, 1], [0, 0, 0, 2, 1], [3, 1, 4, 0, 0]]> : tensor<3x5xi32>
  return %w : tensor<3x5xi32>
}

// -----

// Padding and a triangle; one rectangle stands for an axis of any size.
// CHECK-LABEL: func.func @around
// CHECK: tensor.pad
// CHECK: } {sparse.attribute = #sparse.attribute<grain = [2147483647, 2], zero = dense<{{\[\[}}true, false, false, true]]> : tensor<1x4xi1>>}
// CHECK: linalg.generic
// CHECK-SAME: grain = [1, 1], zero = dense<{{\[\[}}false, true, true], [false, false, true], [false, false, false]]> : tensor<3x3xi1>
func.func @around(%x: tensor<?x4xf32>, %y: tensor<3x3xf32>) -> (tensor<?x8xf32>, tensor<3x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 2] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x4xf32> to tensor<?x8xf32>
  %e = tensor.empty() : tensor<3x3xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%y : tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %seen = arith.cmpi sge, %i, %j : index
    %r = arith.select %seen, %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<3x3xf32>
  return %p, %t : tensor<?x8xf32>, tensor<3x3xf32>
}

// -----

// An axis of very many indices is one rectangle.
// CHECK-LABEL: func.func @long
// CHECK: linalg.fill {sparse.attribute = #sparse.attribute<grain = [4294967296, 2], zero = dense<true> : tensor<1x1xi1>>}
// CHECK: tensor.pad
func.func @long(%e: tensor<4294967296x2xf32>) -> tensor<4294967297x2xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4294967296x2xf32>) -> tensor<4294967296x2xf32>
  %p = tensor.pad %f low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4294967296x2xf32> to tensor<4294967297x2xf32>
  return %p : tensor<4294967297x2xf32>
}

// -----

func.func @contradicted() -> tensor<2x2xf32> {
  // expected-error @+1 {{its sparse.attribute says that element (1, 0) is zero, but the constant is not}}
  %w = arith.constant {sparse.attribute = #sparse.attribute<grain = [1, 1], zero = dense<[[true, false], [true, true]]> : tensor<2x2xi1>>} dense<[[0.0, 1.0], [2.0, 0.0]]> : tensor<2x2xf32>
  return %w : tensor<2x2xf32>
}

// -----

// expected-error @+1 {{sparse.attribute has other rectangles than its tensor consists of}}
func.func @misfit(%x: tensor<4x4xf32> {sparse.attribute = #sparse.attribute<grain = [2, 2], zero = dense<true> : tensor<1x1xi1>>}) {
  return
}
