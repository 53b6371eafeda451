// As jax.export writes programs for any sizes: the sizes of arguments are read, asserted, and make other shapes.
// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %tile_run %s --target=interpret --target=emulate:sm_80 --target=emulate:gfx942 | FileCheck %s
// CHECK-NOT: {{[1-9][0-9]* of}}
// CHECK: right
// RUN: %tile_run %s --size=7 --check-against=interpret
// RUN: %tile_translate --import-stablehlo %s | FileCheck %s --check-prefix=SIZES
// Sizes of one dimension are one value, and nobody compares them; those of two arguments are compared.
// SIZES: %[[ROWS:.*]] = tensor.dim %arg0
// SIZES: cf.assert {{.*}} "a size does not fit the shapes that the program was exported for"
// SIZES: cf.assert {{.*}} "two sizes that must be equal differ"
// SIZES-NOT: cf.assert
// SIZES: linalg.generic
// RUN: %python -c 'import numpy as n; n.save("%t.x.npy", n.ones((5, 2, 4), "f4")); n.save("%t.w.npy", n.ones((8, 3), "f4")); n.save("%t.b.npy", n.ones(4, "f4")); n.save("%t.none.npy", n.ones((0, 2, 4), "f4"))'
// RUN: not %tile_run %s --in=%t.x.npy --in=%t.w.npy --in=%t.b.npy 2>&1 | FileCheck %s --check-prefix=DIFFER
// DIFFER: two sizes that must be equal differ
// RUN: not %tile_run %s --in=%t.none.npy --in=%t.w.npy --in=%t.b.npy 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: a size does not fit the shapes that the program was exported for
// in: normal(5, 2, 4), normal(8, 3), normal(5)
// expect: np.concatenate([np.exp(x0.reshape(5, 8) @ x1 + x2[:, None]) / np.exp(x0.reshape(5, 8) @ x1 + x2[:, None]).sum(1, keepdims=True), (x0.reshape(5, 8) @ x1 + x2[:, None]).max(1, keepdims=True), np.arange(5, dtype="f4")[:, None]], 1)
module {
  func.func public @main(%x: tensor<?x2x4xf32>, %w: tensor<8x3xf32>, %b: tensor<?xf32>) -> tensor<?x5xf32> {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2x4xf32>) -> tensor<i32>
    %is = stablehlo.compare GE, %n, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%is, %n) {api_version = 2 : i32, error_message = "too few", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %r = call @inner(%n, %x, %w, %b) : (tensor<i32>, tensor<?x2x4xf32>, tensor<8x3xf32>, tensor<?xf32>) -> tensor<?x5xf32>
    return %r : tensor<?x5xf32>
  }
  func.func private @inner(%n: tensor<i32>, %x: tensor<?x2x4xf32>, %w: tensor<8x3xf32>, %b: tensor<?xf32>) -> tensor<?x5xf32> {
    %c8 = stablehlo.constant dense<8> : tensor<1xi32>
    %c3 = stablehlo.constant dense<3> : tensor<1xi32>
    %c1 = stablehlo.constant dense<1> : tensor<1xi32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %flat = stablehlo.concatenate %rows, %c8, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %wide = stablehlo.concatenate %rows, %c3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %thin = stablehlo.concatenate %rows, %c1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %m = stablehlo.dynamic_reshape %x, %flat : (tensor<?x2x4xf32>, tensor<2xi32>) -> tensor<?x8xf32>
    %p = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0] : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
    %bias = stablehlo.dynamic_broadcast_in_dim %b, %wide, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %s = stablehlo.add %p, %bias : tensor<?x3xf32>
    %top = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
    %t = stablehlo.dynamic_broadcast_in_dim %top, %thin, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %tops = stablehlo.dynamic_broadcast_in_dim %t, %wide, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %d = stablehlo.subtract %s, %tops : tensor<?x3xf32>
    %e = stablehlo.exponential %d : tensor<?x3xf32>
    %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
    %sums = stablehlo.dynamic_broadcast_in_dim %sum, %wide, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %y = stablehlo.divide %e, %sums : tensor<?x3xf32>
    %at = stablehlo.dynamic_iota %thin, dim = 0 : (tensor<2xi32>) -> tensor<?x1xf32>
    %r = stablehlo.concatenate %y, %t, %at, dim = 1 : (tensor<?x3xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x5xf32>
    return %r : tensor<?x5xf32>
  }
}
