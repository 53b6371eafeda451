// Rule by rule: what is zero goes forward, what is dead goes backward. attributes.test draws programs.
// RUN: %tile_opt %s --split-input-file --sparse-propagate-attributes | FileCheck %s
// RUN: %tile_opt %s --split-input-file --sparse-propagate-attributes=finite=true | FileCheck %s --check-prefix=FINITE
// RUN: not %tile_opt %s --split-input-file --sparse-propagate-attributes=direction=up 2>&1 | FileCheck %s --check-prefix=DIRECTION
// DIRECTION: direction is 'up'; forward and both are accepted

// 0 · x is 0 if x is finite: column 1 of the product is zero, and so is that of its relu. Row 0 of %v is zero, so that
// column 0 of the hidden layer is dead, and column 0 of %w; nothing of this holds if %x may be an infinity.
// CHECK-LABEL: func.func @two_layers
// CHECK: linalg.matmul ins
// FINITE-LABEL: func.func @two_layers
// FINITE: arith.constant {sparse.attribute = #sparse.attribute<grain = [2, 1], zero = dense<{{\[\[}}false, true, false]]> : tensor<1x3xi1>, dead = dense<{{\[\[}}true, false, false]]> : tensor<1x3xi1>>}
// FINITE: linalg.matmul {sparse.attribute = #sparse.attribute<grain = [3, 1], zero = dense<{{\[\[}}false, true, false]]> : tensor<1x3xi1>, dead = dense<{{\[\[}}true, false, false]]> : tensor<1x3xi1>>}
// FINITE: linalg.generic
// FINITE-SAME: zero = dense<{{\[\[}}false, true, false]]> : tensor<1x3xi1>, dead = dense<{{\[\[}}true, false, false]]> : tensor<1x3xi1>
func.func @two_layers(%x: tensor<3x2xf32>) -> tensor<3x1xf32> {
  %w = arith.constant dense<[[1.0, 0.0, 2.0], [3.0, 0.0, 1.0]]> : tensor<2x3xf32>
  %v = arith.constant dense<[[0.0], [1.0], [2.0]]> : tensor<3x1xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %p = linalg.matmul ins(%x, %w : tensor<3x2xf32>, tensor<2x3xf32>) outs(%f : tensor<3x3xf32>) -> tensor<3x3xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]} ins(%p : tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<3x3xf32>
  %g = tensor.empty() : tensor<3x1xf32>
  %k = linalg.fill ins(%zero : f32) outs(%g : tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = linalg.matmul ins(%h, %v : tensor<3x3xf32>, tensor<3x1xf32>) outs(%k : tensor<3x1xf32>) -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}

// -----

// A second reader needs the hidden layer: nothing is dead (SparTA's one bit would say so).
// FINITE-LABEL: func.func @two_readers
// FINITE: linalg.matmul ins
// FINITE-NOT: dead = dense<{{\[\[}}true
// FINITE: return
func.func @two_readers(%x: tensor<3x2xf32>, %w: tensor<2x3xf32>, %i: tensor<3x3xf32>, %k: tensor<3x1xf32>)
    -> (tensor<3x1xf32>, tensor<3x3xf32>) {
  %v = arith.constant dense<[[0.0], [1.0], [2.0]]> : tensor<3x1xf32>
  %p = linalg.matmul ins(%x, %w : tensor<3x2xf32>, tensor<2x3xf32>) outs(%i : tensor<3x3xf32>) -> tensor<3x3xf32>
  %y = linalg.matmul ins(%p, %v : tensor<3x3xf32>, tensor<3x1xf32>) outs(%k : tensor<3x1xf32>) -> tensor<3x1xf32>
  return %y, %p : tensor<3x1xf32>, tensor<3x3xf32>
}

// -----

// Integers are finite. exp(0) is 1: no zero. A reshape keeps a rectangle if all of it is zero.
// CHECK-LABEL: func.func @integers
// CHECK: linalg.matmul {sparse.attribute = #sparse.attribute<grain = [2, 1], zero = dense<{{\[\[}}true, false]]>
// CHECK: tensor.collapse_shape
// CHECK-SAME: grain = [1], zero = dense<[true, false, true, false]>
func.func @integers(%x: tensor<2x2xi32>) -> tensor<4xi32> {
  %w = arith.constant dense<[[0, 1], [0, 2]]> : tensor<2x2xi32>
  %i = arith.constant dense<0> : tensor<2x2xi32>
  %p = linalg.matmul ins(%x, %w : tensor<2x2xi32>, tensor<2x2xi32>) outs(%i : tensor<2x2xi32>) -> tensor<2x2xi32>
  %c = tensor.collapse_shape %p [[0, 1]] : tensor<2x2xi32> into tensor<4xi32>
  return %c : tensor<4xi32>
}

// -----

// A loop: what it starts from and what it yields have column 1 zero; in @grows the sum has no zero left.
// CHECK-LABEL: func.func @loops
// CHECK: scf.for
// CHECK: } {sparse.attribute = #sparse.attribute<grain = [2, 1], zero = dense<{{\[\[}}false, true]]> : tensor<1x2xi1>>}
// CHECK: scf.for
// CHECK: scf.yield
// CHECK-NEXT: }{{$}}
func.func @loops(%n: index) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.constant dense<[[1.0, 0.0], [2.0, 0.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[0.0, 3.0], [0.0, 4.0]]> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<2x2xf32> {
    %y = linalg.add ins(%x, %a : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %y : tensor<2x2xf32>
  }
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<2x2xf32> {
    %y = linalg.add ins(%x, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %y : tensor<2x2xf32>
  }
  return %r, %s : tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// A private function has the facts of its callers; one that others may call has none.
// CHECK-LABEL: func.func @calls
// CHECK-LABEL: func.func private @closed(%{{.*}}: tensor<2xf32> {sparse.attribute = #sparse.attribute<grain = [1], zero = dense<[true, false]> : tensor<2xi1>>}
// CHECK-LABEL: func.func @open(%{{.*}}: tensor<2xf32>) -> tensor<2xf32>
func.func @calls() -> (tensor<2xf32>, tensor<2xf32>) {
  %a = arith.constant dense<[0.0, 3.0]> : tensor<2xf32>
  %b = arith.constant dense<[0.0, 0.0]> : tensor<2xf32>
  %x = func.call @closed(%a) : (tensor<2xf32>) -> tensor<2xf32>
  %y = func.call @closed(%b) : (tensor<2xf32>) -> tensor<2xf32>
  %z = func.call @open(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %x, %z : tensor<2xf32>, tensor<2xf32>
}
func.func private @closed(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @open(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
