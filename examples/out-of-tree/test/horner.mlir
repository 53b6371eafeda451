// The op in its own form and in the generic one, by both tools; what it refuses.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: %mlir_opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK: poly.horner %{{.*}} by [1.000000e+00, 5.000000e-01] : f32
// CHECK: poly.horner %{{.*}} by [2.000000e+00] : tensor<4x8xf16>
// GENERIC: "poly.horner"(%{{.*}}) <{coefficients = [1.000000e+00, 5.000000e-01]}> : (f32) -> f32
func.func @forms(%x: f32, %t: tensor<4x8xf16>) {
  %0 = poly.horner %x by [1.0, 0.5] : f32
  %1 = poly.horner %t by [2.0] : tensor<4x8xf16>
  return
}

// -----
func.func @of_integers(%x: i32) {
  // expected-error @below {{evaluates at a 'i32', expected a float}}
  %0 = poly.horner %x by [1.0] : i32
  return
}

// -----
func.func @of_nothing(%x: f32) {
  // expected-error @below {{has no coefficients, expected one at least}}
  %0 = poly.horner %x by [] : f32
  return
}

// -----
func.func @of_text(%x: f32) {
  // expected-error @below {{coefficient 1 is not a float}}
  %0 = poly.horner %x by [1.0, "two"] : f32
  return
}
