// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-generalize-named-ops,tile-choose-data-layouts{chip=x86-64-v4},canonicalize,cse))' --split-input-file | FileCheck %s
// RUN: %tile_run %s --entry=chain --size=9 --size=7 --size=11 --target=cpu --check-against=interpret
// RUN: %tile_run %s --entry=reshapes --size=3 --size=4 --size=5 --target=cpu --check-against=interpret
// RUN: %tile_run %s --entry=grouped --target=cpu --check-against=interpret
// RUN: %tile_run %s --entry=excited --target=cpu --check-against=interpret
// RUN: %tile_run %s --entry=filled --target=cpu --check-against=interpret
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-generalize-named-ops,tile-choose-data-layouts{chip=sm_80}))' --split-input-file | FileCheck %s --check-prefix=GPU

// GPU-LABEL: func @chain
// GPU-NOT: tensor<?x?x?x64xf32>

// A convolution with a bias, a padding with sizes that are values, a depthwise convolution and a maximum. Only the
// argument and the result change their layout; the weights are transposed once.
// CHECK-LABEL: func @chain
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x16x?x?xf32>) outs(%{{.*}} : tensor<?x?x?x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<64x16x3x3xf32>) outs(%{{.*}} : tensor<3x3x16x64xf32>)
// CHECK: linalg.generic {{.*}}"reduction", "reduction", "reduction"]} ins(%{{.*}} : tensor<?x?x?x16xf32>, tensor<3x3x16x64xf32>) outs(%{{.*}} : tensor<?x?x?x64xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x?x?x64xf32>, tensor<64xf32>) outs(%{{.*}} : tensor<?x?x?x64xf32>)
// CHECK: tensor.pad %{{.*}} low[0, %[[TOP:.*]], 1, 0] high[0, 1, %{{.*}}, 0]
// CHECK: tensor<?x?x?x64xf32> to tensor<?x?x?x64xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x?x?x64xf32>, tensor<3x2x64xf32>) outs(%{{.*}} : tensor<?x?x?x64xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x?x?x64xf32>) outs(%[[LAST:.*]] : tensor<?x64x?x?xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
#same = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d1)>
func.func @chain(%x: tensor<?x16x?x?xf32>, %w: tensor<64x16x3x3xf32>, %d: tensor<64x3x2xf32>, %b: tensor<64xf32>) -> tensor<?x64x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x16x?x?xf32>
  %h = tensor.dim %x, %c2 : tensor<?x16x?x?xf32>
  %v = tensor.dim %x, %c3 : tensor<?x16x?x?xf32>
  %oh = arith.subi %h, %c2 : index
  %ov = arith.subi %v, %c2 : index
  %empty = tensor.empty(%n, %oh, %ov) : tensor<?x64x?x?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64x?x?xf32>) -> tensor<?x64x?x?xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<?x16x?x?xf32>, tensor<64x16x3x3xf32>) outs(%start : tensor<?x64x?x?xf32>) -> tensor<?x64x?x?xf32>
  %biased = linalg.generic {indexing_maps = [#same, #channel, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %b : tensor<?x64x?x?xf32>, tensor<64xf32>) outs(%empty : tensor<?x64x?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %channel = linalg.index 1 : index
    %row = linalg.index 2 : index
    %isFirst = arith.cmpi ult, %row, %channel : index
    %sum = arith.addf %p, %q : f32
    %other = arith.subf %p, %q : f32
    %value = arith.select %isFirst, %sum, %other : f32
    linalg.yield %value : f32
  } -> tensor<?x64x?x?xf32>
  %height = tensor.dim %biased, %c2 : tensor<?x64x?x?xf32>
  %top = arith.minui %height, %c1 : index
  %right = arith.minui %ov, %c1 : index
  %padded = tensor.pad %biased low[0, 0, %top, 1] high[0, 0, 1, %right] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<?x64x?x?xf32> to tensor<?x64x?x?xf32>
  %dh = arith.subi %oh, %c1 : index
  %dh1 = arith.addi %dh, %top : index
  %dv = arith.addi %ov, %right : index
  %empty2 = tensor.empty(%n, %dh1, %dv) : tensor<?x64x?x?xf32>
  %start2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<?x64x?x?xf32>) -> tensor<?x64x?x?xf32>
  %deep = linalg.depthwise_conv_2d_nchw_chw ins(%padded, %d : tensor<?x64x?x?xf32>, tensor<64x3x2xf32>) outs(%start2 : tensor<?x64x?x?xf32>) -> tensor<?x64x?x?xf32>
  return %deep : tensor<?x64x?x?xf32>
}

// -----

// Channels are split from the images and joined, a slice of them is taken and put in another place, and their mean is
// multiplied with all pixels.
// CHECK-LABEL: func @reshapes
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 5] [%{{.*}}, %{{.*}}, %{{.*}}, 32] [1, 1, 1, 1] : tensor<?x?x?x64xf32> to tensor<?x?x?x32xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0, 7] [%{{.*}}, %{{.*}}, %{{.*}}, 32] [1, 1, 1, 1] : tensor<?x?x?x32xf32> into tensor<?x?x?x64xf32>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x?x2x?x64xf32>)
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3], [4]] : tensor<?x?x2x?x64xf32> into tensor<?x?x?x64xf32>
// CHECK: ins(%{{.*}} : tensor<?x?x?x64xf32>) outs(%{{.*}} : tensor<?x64xf32>)
#pixels = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#mean = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#ones = affine_map<(d0, d1, d2, d3) -> (d0, d1, 0, 0)>
#rows = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#all = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
func.func @reshapes(%x: tensor<?x64x?x?xf32>, %w: tensor<64x64x3x1xf32>) -> tensor<?x64x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x64x?x?xf32>
  %h = tensor.dim %x, %c2 : tensor<?x64x?x?xf32>
  %v = tensor.dim %x, %c3 : tensor<?x64x?x?xf32>
  %oh = arith.subi %h, %c2 : index
  %empty = tensor.empty(%n, %oh, %v) : tensor<?x64x?x?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64x?x?xf32>) -> tensor<?x64x?x?xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<?x64x?x?xf32>, tensor<64x64x3x1xf32>) outs(%start : tensor<?x64x?x?xf32>) -> tensor<?x64x?x?xf32>
  %slice = tensor.extract_slice %y[0, 5, 0, 0] [%n, 32, %oh, %v] [1, 1, 1, 1] : tensor<?x64x?x?xf32> to tensor<?x32x?x?xf32>
  %moved = tensor.insert_slice %slice into %y[0, 7, 0, 0] [%n, 32, %oh, %v] [1, 1, 1, 1] : tensor<?x32x?x?xf32> into tensor<?x64x?x?xf32>
  %twice = tensor.empty(%n, %oh, %v) : tensor<?x64x?x2x?xf32>
  %wide = linalg.generic {indexing_maps = [#rows, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%moved : tensor<?x64x?x?xf32>) outs(%twice : tensor<?x64x?x2x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<?x64x?x2x?xf32>
  %flat = tensor.collapse_shape %wide [[0], [1], [2, 3], [4]] : tensor<?x64x?x2x?xf32> into tensor<?x64x?x?xf32>
  %sums = tensor.empty(%n) : tensor<?x64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%sums : tensor<?x64xf32>) -> tensor<?x64xf32>
  %sum = linalg.generic {indexing_maps = [#pixels, #mean], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%flat : tensor<?x64x?x?xf32>) outs(%none : tensor<?x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<?x64xf32>
  %kept = tensor.expand_shape %sum [[0], [1, 2, 3]] output_shape [%n, 64, 1, 1] : tensor<?x64xf32> into tensor<?x64x1x1xf32>
  %hh = arith.muli %oh, %c2 : index
  %empty2 = tensor.empty(%n, %hh, %v) : tensor<?x64x?x?xf32>
  %scaled = linalg.generic {indexing_maps = [#pixels, #ones, #pixels], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%flat, %kept : tensor<?x64x?x?xf32>, tensor<?x64x1x1xf32>) outs(%empty2 : tensor<?x64x?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x64x?x?xf32>
  return %scaled : tensor<?x64x?x?xf32>
}

// -----

// Groups of channels come before the channels.
// CHECK-LABEL: func @grouped
// CHECK: ins(%{{.*}} : tensor<2x9x9x4x16xf32>, tensor<4x3x3x16x8xf32>) outs(%{{.*}} : tensor<2x7x7x4x8xf32>)
func.func @grouped(%x: tensor<2x4x16x9x9xf32>, %w: tensor<4x8x16x3x3xf32>) -> tensor<2x4x8x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x4x8x7x7xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x4x8x7x7xf32>) -> tensor<2x4x8x7x7xf32>
  %y = linalg.conv_2d_ngchw_gfchw ins(%x, %w : tensor<2x4x16x9x9xf32>, tensor<4x8x16x3x3xf32>) outs(%start : tensor<2x4x8x7x7xf32>) -> tensor<2x4x8x7x7xf32>
  return %y : tensor<2x4x8x7x7xf32>
}

// -----

// The copies of argument and result would cost more than nine multiply-adds gain.
// CHECK-LABEL: func @small
// CHECK-NOT: tensor<1x10x10x1xf32>
// CHECK: return
func.func @small(%x: tensor<1x1x10x10xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x1x8x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x1x10x10xf32>, tensor<1x1x3x3xf32>) outs(%start : tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  return %y : tensor<1x1x8x8xf32>
}

// -----

// What has no pixels is only seen with other axes: no element moves. A window of one element is no dimension.
// CHECK-LABEL: func @excited
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2], [3]] output_shape [2, 1, 1, 64] : tensor<2x64xf32> into tensor<2x1x1x64xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2], [3]] : tensor<1x1x64x32xf32> into tensor<64x32xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<2x1x1x64xf32>, tensor<64x32xf32>) outs(%{{.*}} : tensor<2x1x1x32xf32>)
#kept = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#sum = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
func.func @excited(%x: tensor<2x3x9x9xf32>, %w: tensor<64x3x5x5xf32>, %v: tensor<32x64x1x1xf32>) -> tensor<2x32x1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x64x5x5xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x64x5x5xf32>) -> tensor<2x64x5x5xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x3x9x9xf32>, tensor<64x3x5x5xf32>) outs(%start : tensor<2x64x5x5xf32>) -> tensor<2x64x5x5xf32>
  %sums = tensor.empty() : tensor<2x64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%sums : tensor<2x64xf32>) -> tensor<2x64xf32>
  %sum = linalg.generic {indexing_maps = [#kept, #sum], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%y : tensor<2x64x5x5xf32>) outs(%none : tensor<2x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<2x64xf32>
  %pixel = tensor.expand_shape %sum [[0], [1, 2, 3]] output_shape [2, 64, 1, 1] : tensor<2x64xf32> into tensor<2x64x1x1xf32>
  %empty2 = tensor.empty() : tensor<2x32x1x1xf32>
  %start2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<2x32x1x1xf32>) -> tensor<2x32x1x1xf32>
  %z = linalg.conv_2d_nchw_fchw ins(%pixel, %v : tensor<2x64x1x1xf32>, tensor<32x64x1x1xf32>) outs(%start2 : tensor<2x32x1x1xf32>) -> tensor<2x32x1x1xf32>
  return %z : tensor<2x32x1x1xf32>
}

// -----

// Weights that are filled with a number lose the axes of such windows too, up to all of them.
// CHECK-LABEL: func @filled
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2, 3]] : tensor<32x32x1x1xf32> into tensor<32x32xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x9x8x32xf32>, tensor<32x32xf32>)
// CHECK: tensor.collapse_shape %{{.*}} [] : tensor<1x1xf32> into tensor<f32>
#image = affine_map<(n, f, h, w, c, r, s) -> (n, c, h + r, w + s)>
#weights = affine_map<(n, f, h, w, c, r, s) -> (f, c, r, s)>
#out = affine_map<(n, f, h, w, c, r, s) -> (n, f, h, w)>
#window = affine_map<(n, c, h, w, r, s) -> (n, c, h + r, w + s)>
#one = affine_map<(n, c, h, w, r, s) -> (r, s)>
#result = affine_map<(n, c, h, w, r, s) -> (n, c, h, w)>
func.func @filled(%x: tensor<2x3x13x12xf32>, %v: tensor<32x3x5x5xf32>) -> (tensor<2x32x9x8xf32>, tensor<2x32x9x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %third = arith.constant 0.3 : f32
  %some = tensor.empty() : tensor<32x32x1x1xf32>
  %w = linalg.fill ins(%third : f32) outs(%some : tensor<32x32x1x1xf32>) -> tensor<32x32x1x1xf32>
  %few = tensor.empty() : tensor<1x1xf32>
  %u = linalg.fill ins(%third : f32) outs(%few : tensor<1x1xf32>) -> tensor<1x1xf32>
  %empty0 = tensor.empty() : tensor<2x32x9x8xf32>
  %start0 = linalg.fill ins(%zero : f32) outs(%empty0 : tensor<2x32x9x8xf32>) -> tensor<2x32x9x8xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %v : tensor<2x3x13x12xf32>, tensor<32x3x5x5xf32>) outs(%start0 : tensor<2x32x9x8xf32>) -> tensor<2x32x9x8xf32>
  %empty = tensor.empty() : tensor<2x32x9x8xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x32x9x8xf32>) -> tensor<2x32x9x8xf32>
  %z = linalg.generic {indexing_maps = [#image, #weights, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%y, %w : tensor<2x32x9x8xf32>, tensor<32x32x1x1xf32>) outs(%start : tensor<2x32x9x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x32x9x8xf32>
  %t = linalg.generic {indexing_maps = [#window, #one, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%y, %u : tensor<2x32x9x8xf32>, tensor<1x1xf32>) outs(%start0 : tensor<2x32x9x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x32x9x8xf32>
  return %z, %t : tensor<2x32x9x8xf32>, tensor<2x32x9x8xf32>
}
