// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-merge-dimensions{chip=x86-64-v4 convolutions=merged},canonicalize,cse))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-merge-dimensions{chip=x86-64-v4 convolutions=merged},canonicalize,cse),tile-group-ops{chip=x86-64-v4},convert-linalg-to-tile{chip=x86-64-v4})' | FileCheck %s --check-prefix=TILE
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-merge-dimensions{chip=x86-64-v4 convolutions=direct}))' | FileCheck %s --check-prefix=DIRECT
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-merge-dimensions{chip=sm_80 convolutions=merged}))' | FileCheck %s --check-prefix=GPU
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-merge-dimensions{convolutions=im2col}))' 2>&1 | FileCheck %s --check-prefix=WAY

// WAY: error: {{.*}}convolutions: unknown 'im2col'; accepts model, merged and direct
// GPU-NOT: collapse_shape

// Pixels of all images and rows count as m, the window's elements as k; the bias that follows comes along, and what the
// sum starts from stays a constant. One kernel packs A run after run: three pixels of eight channels.
// CHECK-DAG: #[[address:.*]] = affine_map<(d0, d1, d2) -> ((d0 mod 12) * 8 + ((d0 floordiv 12) mod 5) * 224 + (d0 floordiv 60) * 1568 + d2 mod 24 + (d2 floordiv 24) * 112)>
// CHECK-LABEL: func.func @window
// CHECK-DAG: %[[x:.*]] = tensor.collapse_shape %arg0 {{\[}}[0, 1, 2, 3]] : tensor<2x14x14x8xf32> into tensor<3136xf32>
// CHECK-DAG: %[[w:.*]] = tensor.collapse_shape %arg1 {{\[}}[0, 1, 2], [3]] : tensor<3x3x8x40xf32> into tensor<72x40xf32>
// CHECK: linalg.generic {indexing_maps = [#[[address]], {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[x]], %[[w]]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins({{.*}}, %arg2 : tensor<120x40xf32>, tensor<40xf32>)
// CHECK: tensor.expand_shape {{.*}} : tensor<120x40xf32> into tensor<2x5x12x40xf32>
// TILE-LABEL: func.func @window
// TILE: tile.launch @matmul_0
// TILE-NOT: tile.launch
// TILE: tile.kernel private @matmul_0(%arg0: memref<3136xf32>
// TILE: tile.assume {{.*}} range [0, 3112] : index
// TILE: tile.load {{.*}} -> tensor<24xf32>
// TILE: tile.mma
// TILE: arith.addf {{.*}} : tensor<{{.*}}xf32>
// DIRECT-LABEL: func.func @window
// DIRECT-NOT: collapse_shape
func.func @window(%x: tensor<2x14x14x8xf32>, %w: tensor<3x3x8x40xf32>, %b: tensor<40xf32>) -> tensor<2x5x12x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x12x40xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x5x12x40xf32>) -> tensor<2x5x12x40xf32>
  %c = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x14x14x8xf32>, tensor<3x3x8x40xf32>) outs(%z : tensor<2x5x12x40xf32>) -> tensor<2x5x12x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, p, q, f) -> (n, p, q, f)>, affine_map<(n, p, q, f) -> (f)>, affine_map<(n, p, q, f) -> (n, p, q, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %b : tensor<2x5x12x40xf32>, tensor<40xf32>) outs(%e : tensor<2x5x12x40xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<2x5x12x40xf32>
  return %y : tensor<2x5x12x40xf32>
}

// -----

// Pixels by themselves: a matrix, however many images there are.
// CHECK-LABEL: func.func @pixels
// CHECK: tensor.collapse_shape %arg0 {{\[}}[0, 1, 2], [3]] : tensor<?x7x5x8xf32> into tensor<?x8xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins({{.*}} : tensor<?x8xf32>, tensor<8x16xf32>)
// CHECK: tensor.expand_shape {{.*}} output_shape [%{{.*}}, 7, 5, 16] : tensor<?x16xf32> into tensor<?x7x5x16xf32>
func.func @pixels(%x: tensor<?x7x5x8xf32>, %w: tensor<1x1x8x16xf32>, %c: tensor<?x7x5x16xf32>) -> tensor<?x7x5x16xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<?x7x5x8xf32>, tensor<1x1x8x16xf32>) outs(%c : tensor<?x7x5x16xf32>) -> tensor<?x7x5x16xf32>
  return %r : tensor<?x7x5x16xf32>
}

// Heads side by side, rows of a batch: a product over five dimensions.
// CHECK-LABEL: func.func @heads
// CHECK-DAG: tensor.collapse_shape %arg0 {{\[}}[0, 1], [2]] : tensor<2x9x6xf32> into tensor<18x6xf32>
// CHECK-DAG: tensor.collapse_shape %arg1 {{\[}}[0], [1, 2]] : tensor<6x4x5xf32> into tensor<6x20xf32>
// CHECK: tensor.expand_shape {{.*}} : tensor<18x20xf32> into tensor<2x9x4x5xf32>
#maps = [affine_map<(b, s, h, d, k) -> (b, s, k)>, affine_map<(b, s, h, d, k) -> (k, h, d)>, affine_map<(b, s, h, d, k) -> (b, s, h, d)>]
func.func @heads(%x: tensor<2x9x6xf32>, %w: tensor<6x4x5xf32>, %c: tensor<2x9x4x5xf32>) -> tensor<2x9x4x5xf32> {
  %r = linalg.generic {indexing_maps = #maps, iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x9x6xf32>, tensor<6x4x5xf32>) outs(%c : tensor<2x9x4x5xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x9x4x5xf32>
  return %r : tensor<2x9x4x5xf32>
}

// -----

// Left alone: rows of unknown width, channels that are not contiguous, products by channel, and a person's schedule.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: collapse_shape
func.func @wide(%x: tensor<1x9x?x8xf32>, %w: tensor<3x3x8x16xf32>, %c: tensor<1x7x?x16xf32>) -> tensor<1x7x?x16xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x9x?x8xf32>, tensor<3x3x8x16xf32>) outs(%c : tensor<1x7x?x16xf32>) -> tensor<1x7x?x16xf32>
  return %r : tensor<1x7x?x16xf32>
}
// CHECK-LABEL: func.func @channels_first
// CHECK-NOT: collapse_shape
func.func @channels_first(%x: tensor<1x8x9x9xf32>, %w: tensor<16x8x3x3xf32>, %c: tensor<1x16x7x7xf32>) -> tensor<1x16x7x7xf32> {
  %r = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x8x9x9xf32>, tensor<16x8x3x3xf32>) outs(%c : tensor<1x16x7x7xf32>) -> tensor<1x16x7x7xf32>
  return %r : tensor<1x16x7x7xf32>
}
// CHECK-LABEL: func.func @depthwise
// CHECK-NOT: collapse_shape
func.func @depthwise(%x: tensor<1x9x9x8xf32>, %w: tensor<3x3x8xf32>, %c: tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32> {
  %r = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x9x9x8xf32>, tensor<3x3x8xf32>) outs(%c : tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32>
  return %r : tensor<1x7x7x8xf32>
}
// CHECK-LABEL: func.func @told
// CHECK-NOT: collapse_shape
#conv = [affine_map<(p, f, r, c) -> (p + r, c)>, affine_map<(p, f, r, c) -> (r, c, f)>, affine_map<(p, f, r, c) -> (p, f)>]
func.func @told(%x: tensor<9x8xf32>, %w: tensor<3x8x16xf32>, %c: tensor<7x16xf32>) -> tensor<7x16xf32> {
  %r = linalg.generic {indexing_maps = #conv, iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<9x8xf32>, tensor<3x8x16xf32>) outs(%c : tensor<7x16xf32>)
      attrs = {tile.schedule = #tile.schedule<block = [7, 16, 1, 8]>} {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<7x16xf32>
  return %r : tensor<7x16xf32>
}

// -----

// Rows of sizes that are not known become one dimension where A is a matrix whatever they are; not where its axes lie
// in another order.
// CHECK-LABEL: func.func @open_rows
// CHECK: %[[x:.*]] = tensor.collapse_shape %arg0 {{\[}}[0, 1], [2]] : tensor<?x?x24xf32> into tensor<?x24xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[x]], %arg1
// CHECK: tensor.expand_shape
// CHECK-LABEL: func.func @turned_rows
// CHECK-NOT: collapse_shape
// DIRECT-LABEL: func.func @open_rows
// DIRECT-NOT: collapse_shape
#rows = [affine_map<(a, b, n, k) -> (a, b, k)>, affine_map<(a, b, n, k) -> (k, n)>, affine_map<(a, b, n, k) -> (a, b, n)>]
#turned = [affine_map<(a, b, n, k) -> (b, a, k)>, affine_map<(a, b, n, k) -> (k, n)>, affine_map<(a, b, n, k) -> (a, b, n)>]
func.func @open_rows(%x: tensor<?x?x24xf32>, %w: tensor<24x40xf32>, %c: tensor<?x?x40xf32>) -> tensor<?x?x40xf32> {
  %r = linalg.generic {indexing_maps = #rows, iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x?x24xf32>, tensor<24x40xf32>) outs(%c : tensor<?x?x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x?x40xf32>
  return %r : tensor<?x?x40xf32>
}
func.func @turned_rows(%x: tensor<?x?x24xf32>, %w: tensor<24x40xf32>, %c: tensor<?x?x40xf32>) -> tensor<?x?x40xf32> {
  %r = linalg.generic {indexing_maps = #turned, iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x?x24xf32>, tensor<24x40xf32>) outs(%c : tensor<?x?x40xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x?x40xf32>
  return %r : tensor<?x?x40xf32>
}
