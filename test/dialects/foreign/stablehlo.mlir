// The examples of the rows of StableHLO and CHLO, and of the forms that JAX prints beside them: each parses, verifies and
// keeps its meaning in every form. The plugin does not know these dialects: its host may have the real ones.
// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: %tile_opt %s | FileCheck %s
// RUN: not %mlir_opt_plugin %s 2>&1 | FileCheck %s --check-prefix=PLUGIN
// PLUGIN: error: {{.*}}stablehlo

func.func @stablehlo_abs(%x: tensor<4xcomplex<f32>>) {
  %r = stablehlo.abs %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}
func.func @stablehlo_cbrt(%x: tensor<4xf32>) {
  %r = stablehlo.cbrt %x : tensor<4xf32>
  return
}
func.func @stablehlo_ceil(%x: tensor<4xf32>) {
  %r = stablehlo.ceil %x : tensor<4xf32>
  return
}
func.func @stablehlo_cosine(%x: tensor<4xf32>) {
  %r = stablehlo.cosine %x : tensor<4xf32>
  return
}
func.func @stablehlo_count_leading_zeros(%x: tensor<4xi32>) {
  %r = stablehlo.count_leading_zeros %x : tensor<4xi32>
  return
}
func.func @stablehlo_exponential(%x: tensor<4xf32>) {
  %r = stablehlo.exponential %x : tensor<4xf32>
  return
}
func.func @stablehlo_exponential_minus_one(%x: tensor<4xf32>) {
  %r = stablehlo.exponential_minus_one %x : tensor<4xf32>
  return
}
func.func @stablehlo_floor(%x: tensor<4xf32>) {
  %r = stablehlo.floor %x : tensor<4xf32>
  return
}
func.func @stablehlo_log(%x: tensor<4xf32>) {
  %r = stablehlo.log %x : tensor<4xf32>
  return
}
func.func @stablehlo_log_plus_one(%x: tensor<4xf32>) {
  %r = stablehlo.log_plus_one %x : tensor<4xf32>
  return
}
func.func @stablehlo_logistic(%x: tensor<4xf32>) {
  %r = stablehlo.logistic %x : tensor<4xf32>
  return
}
func.func @stablehlo_negate(%x: tensor<4xf32>) {
  %r = stablehlo.negate %x : tensor<4xf32>
  return
}
func.func @stablehlo_not(%x: tensor<4xi32>) {
  %r = stablehlo.not %x : tensor<4xi32>
  return
}
func.func @stablehlo_popcnt(%x: tensor<4xi32>) {
  %r = stablehlo.popcnt %x : tensor<4xi32>
  return
}
func.func @stablehlo_round_nearest_afz(%x: tensor<4xf32>) {
  %r = stablehlo.round_nearest_afz %x : tensor<4xf32>
  return
}
func.func @stablehlo_round_nearest_even(%x: tensor<4xf32>) {
  %r = stablehlo.round_nearest_even %x : tensor<4xf32>
  return
}
func.func @stablehlo_rsqrt(%x: tensor<4xf32>) {
  %r = stablehlo.rsqrt %x : tensor<4xf32>
  return
}
func.func @stablehlo_sign(%x: tensor<4xf32>) {
  %r = stablehlo.sign %x : tensor<4xf32>
  return
}
func.func @stablehlo_sine(%x: tensor<4xf32>) {
  %r = stablehlo.sine %x : tensor<4xf32>
  return
}
func.func @stablehlo_sqrt(%x: tensor<4xf32>) {
  %r = stablehlo.sqrt %x : tensor<4xf32>
  return
}
func.func @stablehlo_tan(%x: tensor<4xf32>) {
  %r = stablehlo.tan %x : tensor<4xf32>
  return
}
func.func @stablehlo_tanh(%x: tensor<4xf32>) {
  %r = stablehlo.tanh %x : tensor<4xf32>
  return
}
func.func @stablehlo_add(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = stablehlo.add %x, %y : tensor<4xf32>
  return
}
func.func @stablehlo_and(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  %r = stablehlo.and %x, %y : tensor<4xi32>
  return
}
func.func @stablehlo_atan2(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = stablehlo.atan2 %x, %y : tensor<4xf32>
  return
}
func.func @stablehlo_divide(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = stablehlo.divide %x, %y : tensor<4xf32>
  return
}
func.func @stablehlo_maximum(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = stablehlo.maximum %x, %y : tensor<4xf32>
  return
}
func.func @stablehlo_minimum(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = stablehlo.minimum %x, %y : tensor<4xf32>
  return
}
func.func @stablehlo_multiply(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = stablehlo.multiply %x, %y : tensor<4xf32>
  return
}
func.func @stablehlo_or(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  %r = stablehlo.or %x, %y : tensor<4xi32>
  return
}
func.func @stablehlo_power(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = stablehlo.power %x, %y : tensor<4xf32>
  return
}
func.func @stablehlo_remainder(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = stablehlo.remainder %x, %y : tensor<4xf32>
  return
}
func.func @stablehlo_shift_left(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  %r = stablehlo.shift_left %x, %y : tensor<4xi32>
  return
}
func.func @stablehlo_shift_right_arithmetic(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  %r = stablehlo.shift_right_arithmetic %x, %y : tensor<4xi32>
  return
}
func.func @stablehlo_shift_right_logical(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  %r = stablehlo.shift_right_logical %x, %y : tensor<4xi32>
  return
}
func.func @stablehlo_subtract(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = stablehlo.subtract %x, %y : tensor<4xf32>
  return
}
func.func @stablehlo_xor(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  %r = stablehlo.xor %x, %y : tensor<4xi32>
  return
}
func.func @stablehlo_is_finite(%x: tensor<4xf32>) {
  %r = stablehlo.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  return
}
func.func @stablehlo_real(%x: tensor<4xcomplex<f32>>) {
  %r = stablehlo.real %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}
func.func @stablehlo_imag(%x: tensor<4xcomplex<f32>>) {
  %r = stablehlo.imag %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}
func.func @stablehlo_complex(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  return
}
func.func @stablehlo_convert(%x: tensor<4xf32>) {
  %r = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  return
}
func.func @stablehlo_bitcast_convert(%x: tensor<4xf32>) {
  %r = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4x2xi16>
  return
}
func.func @stablehlo_reduce_precision(%x: tensor<4xf32>) {
  %r = stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>
  return
}
func.func @stablehlo_compare(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = stablehlo.compare LT, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}
func.func @stablehlo_select(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = stablehlo.select %p, %x, %y : tensor<4xi1>, tensor<4xf32>
  return
}
func.func @stablehlo_clamp(%a: tensor<f32>, %x: tensor<4xf32>, %b: tensor<f32>) {
  %r = stablehlo.clamp %a, %x, %b : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
func.func @stablehlo_constant() {
  %r = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return
}
func.func @stablehlo_iota() {
  %r = stablehlo.iota dim = 1 : tensor<4x6xi32>
  return
}
func.func @stablehlo_dynamic_iota(%s: tensor<1xi32>) {
  %r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  return
}
func.func @stablehlo_broadcast_in_dim(%x: tensor<6xf32>) {
  %r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<6xf32>) -> tensor<4x6xf32>
  return
}
func.func @stablehlo_dynamic_broadcast_in_dim(%x: tensor<6xf32>, %s: tensor<2xi32>) {
  %r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1]
      : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x6xf32>
  return
}
func.func @stablehlo_reshape(%x: tensor<4x6xf32>) {
  %r = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>
  return
}
func.func @stablehlo_dynamic_reshape(%x: tensor<?x6xf32>, %s: tensor<1xi32>) {
  %r = stablehlo.dynamic_reshape %x, %s : (tensor<?x6xf32>, tensor<1xi32>) -> tensor<?xf32>
  return
}
func.func @stablehlo_get_dimension_size(%x: tensor<?x6xf32>) {
  %r = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x6xf32>) -> tensor<i32>
  return
}
func.func @stablehlo_transpose(%x: tensor<4x6xf32>) {
  %r = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return
}
func.func @stablehlo_slice(%x: tensor<4x6xf32>) {
  %r = stablehlo.slice %x [1:3, 0:6:2] : (tensor<4x6xf32>) -> tensor<2x3xf32>
  return
}
func.func @stablehlo_dynamic_slice(%x: tensor<4x6xf32>, %i: tensor<i32>, %j: tensor<i32>) {
  %r = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 3]
      : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return
}
func.func @stablehlo_dynamic_update_slice(%x: tensor<4x6xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i32>) {
  %r = stablehlo.dynamic_update_slice %x, %u, %i, %j
      : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  return
}
func.func @stablehlo_reverse(%x: tensor<4x6xf32>) {
  %r = stablehlo.reverse %x, dims = [0] : tensor<4x6xf32>
  return
}
func.func @stablehlo_concatenate(%x: tensor<4x6xf32>, %y: tensor<4x2xf32>) {
  %r = stablehlo.concatenate %x, %y, dim = 1 : (tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>
  return
}
func.func @stablehlo_pad(%x: tensor<4x6xf32>, %c: tensor<f32>) {
  %r = stablehlo.pad %x, %c, low = [1, 0], high = [-1, 0], interior = [2, 0]
      : (tensor<4x6xf32>, tensor<f32>) -> tensor<10x6xf32>
  return
}
func.func @stablehlo_gather(%x: tensor<4x6xf32>, %i: tensor<3x1xi32>) {
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>
  return
}
func.func @stablehlo_scatter(%x: tensor<4x6xf32>, %i: tensor<3x1xi32>, %u: tensor<3x6xf32>) {
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x1xi32>, tensor<3x6xf32>) -> tensor<4x6xf32>
  return
}
func.func @stablehlo_dot(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>) {
  %r = stablehlo.dot %a, %b : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return
}
func.func @stablehlo_dot_general(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
  %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}
func.func @stablehlo_convolution(%x: tensor<2x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) {
  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x6x3x4xf32>
  return
}
func.func @stablehlo_reduce(%x: tensor<4x6xf32>, %z: tensor<f32>) {
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]
      : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
func.func @stablehlo_reduce_window(%x: tensor<4x6xf32>, %z: tensor<f32>) {
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x6xf32>
  return
}
func.func @stablehlo_select_and_scatter(%x: tensor<4x6xf32>, %g: tensor<2x6xf32>, %z: tensor<f32>) {
  %r = "stablehlo.select_and_scatter"(%x, %g, %z) <{window_dimensions = array<i64: 2, 1>,
      window_strides = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return
}
func.func @stablehlo_sort(%x: tensor<4x6xf32>) {
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}
func.func @stablehlo_map(%x: tensor<4xf32>) {
  %r = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @stablehlo_cholesky(%a: tensor<4x4xf32>) {
  %r = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>
  return
}
func.func @stablehlo_triangular_solve(%a: tensor<4x4xf32>, %b: tensor<4x2xf32>) {
  %r = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}>
      : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}
func.func @stablehlo_fft(%x: tensor<4x6xcomplex<f32>>) {
  %r = stablehlo.fft %x, type = FFT, length = [6]
      : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
  return
}
func.func @stablehlo_rng_bit_generator(%t: tensor<2xui64>) {
  %s, %r = stablehlo.rng_bit_generator %t, algorithm = PHILOX
      : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
  return
}
func.func @stablehlo_while(%z: tensor<i32>, %n: tensor<i32>, %one: tensor<i32>) {
  %r = stablehlo.while(%i = %z) : tensor<i32>
   cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j : tensor<i32>
  }
  return
}
func.func @stablehlo_if(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) {
  %r = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %y : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}
func.func @stablehlo_case(%i: tensor<i32>, %x: tensor<f32>, %y: tensor<f32>) {
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %y : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return
}
func.func @stablehlo_optimization_barrier(%x: tensor<4xf32>, %y: tensor<f32>) {
  %r:2 = stablehlo.optimization_barrier %x, %y : tensor<4xf32>, tensor<f32>
  return
}
func.func @stablehlo_custom_call(%x: tensor<4xf32>) {
  %r = stablehlo.custom_call @name(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @stablehlo_composite(%x: tensor<4xf32>) {
  %r = stablehlo.composite "my.op" %x {decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @chlo_acos(%x: tensor<4xf32>) {
  %r = chlo.acos %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_acosh(%x: tensor<4xf32>) {
  %r = chlo.acosh %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_asin(%x: tensor<4xf32>) {
  %r = chlo.asin %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_asinh(%x: tensor<4xf32>) {
  %r = chlo.asinh %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_atan(%x: tensor<4xf32>) {
  %r = chlo.atan %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_atanh(%x: tensor<4xf32>) {
  %r = chlo.atanh %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_bessel_i1e(%x: tensor<4xf32>) {
  %r = chlo.bessel_i1e %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_conj(%x: tensor<4xf32>) {
  %r = chlo.conj %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_cosh(%x: tensor<4xf32>) {
  %r = chlo.cosh %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_digamma(%x: tensor<4xf32>) {
  %r = chlo.digamma %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_erf(%x: tensor<4xf32>) {
  %r = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_erf_inv(%x: tensor<4xf32>) {
  %r = chlo.erf_inv %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_erfc(%x: tensor<4xf32>) {
  %r = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_is_inf(%x: tensor<4xf32>) {
  %r = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>
  return
}
func.func @chlo_is_neg_inf(%x: tensor<4xf32>) {
  %r = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>
  return
}
func.func @chlo_is_pos_inf(%x: tensor<4xf32>) {
  %r = chlo.is_pos_inf %x : tensor<4xf32> -> tensor<4xi1>
  return
}
func.func @chlo_lgamma(%x: tensor<4xf32>) {
  %r = chlo.lgamma %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_sinh(%x: tensor<4xf32>) {
  %r = chlo.sinh %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_square(%x: tensor<4xf32>) {
  %r = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_tan(%x: tensor<4xf32>) {
  %r = chlo.tan %x : tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_next_after(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = chlo.next_after %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_polygamma(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = chlo.polygamma %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_zeta(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %r = chlo.zeta %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}
func.func @chlo_top_k(%x: tensor<4x6xf32>) {
  %v, %i = chlo.top_k(%x, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32>

// CHECK-LABEL: @forms
// CHECK: %{{.*}}:2 = stablehlo.reduce(%{{.*}} init: %{{.*}}), (%{{.*}} init: %{{.*}}) across dimensions = [1] :
// CHECK-NEXT: reducer(%[[A:.*]]: tensor<f32>, %{{.*}}: tensor<f32>) (%[[B:.*]]: tensor<i32>, %{{.*}}: tensor<i32>) {
// CHECK-NEXT: stablehlo.return %[[A]], %[[B]] : tensor<f32>, tensor<i32>
// CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.maximum across dimensions = [0, 1]
// CHECK: stablehlo.constant dense<[13, 15]> : tensor<2xui32>
// CHECK: stablehlo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, HIGHEST] :
// CHECK: window = {stride = [1, 2], pad = {{\[\[}}1, 1], [0, -1]], lhs_dilate = [2, 1], rhs_dilate = [1, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}
// CHECK: "stablehlo.gather"{{.*}}#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
// CHECK: stablehlo.while(%[[I:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}}) : tensor<i32>, tensor<4x6xf32>
// CHECK: cond {
// CHECK: stablehlo.compare LT, %[[I]]
// CHECK: } do {
// CHECK: stablehlo.return %[[I]], %[[C]]
// CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<i1>, tensor<4x6xf32>
// CHECK: output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]
// CHECK-SAME: sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=4, j=4, k=4, l=4}, custom>
func.func @forms(%x: tensor<4x6xf32>, %j: tensor<4x6xi32>, %z: tensor<f32>, %k: tensor<i32>, %i: tensor<3x1xi32>,
                 %image: tensor<2x8x8x3xf32>, %kernel: tensor<3x3x3x4xf32>, %p: tensor<i1>, %m: tensor<4x4xf32>) {
  %0:2 = stablehlo.reduce(%x init: %z), (%j init: %k) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
    stablehlo.return %arg1, %arg2 : tensor<f32>, tensor<i32>
  }
  %1 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
  %c = stablehlo.constant dense<[13, 15]> : tensor<2xui32>
  %2 = stablehlo.dot_general %x, %x, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, HIGHEST] : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<f32>
  %3 = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2], pad = [[1, 1], [0, -1]], lhs_dilate = [2, 1], rhs_dilate = [1, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x15x3x4xf32>
  %4 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<3x1xi32>) -> tensor<3x6xf32>
  %5:2 = stablehlo.while(%iterArg = %k, %iterArg_1 = %x) : tensor<i32>, tensor<4x6xf32>
  cond {
    %6 = stablehlo.compare LT, %iterArg, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %6 : tensor<i1>
  } do {
    stablehlo.return %iterArg, %iterArg_1 : tensor<i32>, tensor<4x6xf32>
  }
  %7 = stablehlo.select %p, %x, %x : tensor<i1>, tensor<4x6xf32>
  %8:2 = stablehlo.custom_call @lapack_spotrf_ffi(%m) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=4, j=4, k=4, l=4}, custom>} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  return
}
