// What the rows and verifiers of StableHLO and CHLO refuse.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics

func.func @elementwise(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{operand 1 is tensor<5xf32>, expected the shape and elements of the result, tensor<4xf32>}}
  %r = stablehlo.add %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @kind(%x: tensor<4xf32>) {
  // expected-error @+1 {{must be a ranked tensor of integers or i1}}
  %r = stablehlo.not %x : tensor<4xf32>
  return
}

// -----

func.func @direction(%x: tensor<4xf32>) {
  // expected-error @+1 {{unknown comparison_direction 'LTE', expected one of EQ, NE, GE, GT, LE, LT}}
  %r = stablehlo.compare LTE, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @comparison(%x: tensor<4xf32>) {
  // expected-error @+1 {{compares f32 as another kind of number}}
  %r = stablehlo.compare LT, %x, %x, SIGNED : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @bits(%x: tensor<4xf32>) {
  // expected-error @+1 {{the bits of tensor<4xf32> are not those of tensor<4x3xi16>}}
  %r = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4x3xi16>
  return
}

// -----

func.func @broadcast(%x: tensor<4xf32>) {
  // expected-error @+1 {{size 0 of the operand is 4, expected 1 or that of the result's dimension 1, 6}}
  %r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @reshape(%x: tensor<4xf32>) {
  // expected-error @+1 {{the elements of tensor<4xf32> are not those of tensor<5xf32>}}
  %r = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @transpose(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{dims holds 0 twice}}
  %r = stablehlo.transpose %x, dims = [0, 0] : (tensor<4x6xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @slice(%x: tensor<4xf32>) {
  // expected-error @+1 {{range 0 is 1:5:1, expected one within a size of 4}}
  %r = stablehlo.slice %x [1:5] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dynamic_slice(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{size 0 is 5, expected 0 to 4}}
  %r = stablehlo.dynamic_slice %x, %i, sizes = [5] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @concatenate(%x: tensor<4x6xf32>, %y: tensor<4x5xf32>) {
  // expected-error @+1 {{input 1 is tensor<4x5xf32>, expected tensor<4x6xf32> but for size 0}}
  %r = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x6xf32>, tensor<4x5xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @pad(%x: tensor<4xf32>, %c: tensor<f32>) {
  // expected-error @+1 {{padding leaves no possible size along dimension 0}}
  %r = stablehlo.pad %x, %c, low = [-9223372036854775807], high = [-9], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @gather(%x: tensor<4x6xf32>, %i: tensor<3x2xi32>) {
  // expected-error @+1 {{an index has 2 numbers, expected one for each of 1 dimensions}}
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x2xi32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @dot(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{contracting_dims: dimension 1 of lhs has size 6, dimension 0 of rhs 4; expected one size}}
  %r = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @convolution(%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x2x4xf32>) {
  // expected-error @+1 {{1 feature groups and 1 batch groups do not divide 3 features into 2 for 4 outputs}}
  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x2x4xf32>) -> tensor<2x6x6x4xf32>
  return
}

// -----

func.func @dimension_numbers(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>) {
  // expected-error @+1 {{expected each of b, f, 0, 1, … once}}
  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 1, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  return
}

// -----

func.func @reduce(%x: tensor<4x6xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{result is tensor<6xf32>, expected tensor<4xf32>}}
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
  return
}

// -----

func.func @applies(%x: tensor<4x6xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{expected the name of an op that combines two values, and one input}}
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.sum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @while(%i: tensor<i32>) {
  // expected-error @+1 {{the condition is tensor<i32>, expected a tensor of rank 0 of i1}}
  %r = stablehlo.while(%a = %i) : tensor<i32>
  cond {
    stablehlo.return %a : tensor<i32>
  } do {
    stablehlo.return %a : tensor<i32>
  }
  return
}

// -----

func.func @sort(%x: tensor<4xf32>) {
  // expected-error @+1 {{a region takes 1 values, expected 2}}
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>):
    %p = stablehlo.compare LT, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @fft(%x: tensor<4xf32>) {
  // expected-error @+1 {{operand is tensor<4xf32>, expected complex numbers}}
  %r = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @top_k(%x: tensor<4xf32>) {
  // expected-error @+1 {{k is 5, expected 0 to 4}}
  %v, %i = chlo.top_k(%x, k = 5) : tensor<4xf32> -> (tensor<5xf32>, tensor<5xi32>)
  return
}

// -----

func.func @unknown(%x: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.all_reduce' is unknown}}
  %r = stablehlo.all_reduce %x : tensor<4xf32>
  return
}
