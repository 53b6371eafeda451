// Which loops may take their indices in any order: each operand by the bare index, no question for the index, sums and
// other combiners.
// RUN: %tile_opt %s --sparse-print-permutable-axes -verify-diagnostics

func.func @product(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-remark@+1 {{axes that may be permuted: d0, d1, d2 (reduced)}}
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>) outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// Images, filters and channels; places and windows add up.
func.func @convolution(%x: tensor<1x6x6x3xf32>, %f: tensor<3x3x3x4xf32>, %c: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  // expected-remark@+1 {{axes that may be permuted: d0, d3, d6 (reduced)}}
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %f : tensor<1x6x6x3xf32>, tensor<3x3x3x4xf32>) outs(%c : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %r : tensor<1x4x4x4xf32>
}

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The last number counts double, so the order along j matters; a body that asks for j; a maximum along j.
func.func @bodies(%x: tensor<4x8xf32>, %c: tensor<4xf32>, %e: tensor<4x8xindex>) -> (tensor<4xf32>, tensor<4x8xindex>, tensor<4xf32>) {
  %two = arith.constant 2.0 : f32
  // expected-remark@+1 {{axes that may be permuted: d0}}
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%c : tensor<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %h = arith.mulf %o, %two : f32
    %s = arith.addf %h, %v : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  // expected-remark@+1 {{axes that may be permuted: d0}}
  %s = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x8xindex>) {
  ^bb0(%o: index):
    %j = linalg.index 1 : index
    linalg.yield %j : index
  } -> tensor<4x8xindex>
  // expected-remark@+1 {{axes that may be permuted: d0, d1 (reduced)}}
  %t = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%c : tensor<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = arith.maximumf %v, %o : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %r, %s, %t : tensor<4xf32>, tensor<4x8xindex>, tensor<4xf32>
}
