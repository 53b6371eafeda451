// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-fold-constant-layouts,canonicalize))' --split-input-file | FileCheck %s
// RUN: %tile_run %s --entry=weights --target=cpu --check-against=interpret

// A slice of a transposed weight, sliced at a place that is a value; and what is added to it.
// CHECK-LABEL: func @weights
// CHECK: arith.constant dense<{{\[\[}}5, 9], [6, 10], [7, 11]]> : tensor<3x2xi32>
// CHECK-NOT: linalg.transpose
// CHECK-NOT: tensor.extract_slice
func.func @weights(%x: tensor<3x2xi32>) -> tensor<3x2xi32> {
  %w = arith.constant dense<[[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]]> : tensor<1x3x4xi32>
  %c1 = arith.constant 1 : index
  %matrix = tensor.collapse_shape %w [[0, 1], [2]] : tensor<1x3x4xi32> into tensor<3x4xi32>
  %slice = tensor.extract_slice %matrix[%c1, 0] [2, 3] [1, 1] : tensor<3x4xi32> to tensor<2x3xi32>
  %empty = tensor.empty() : tensor<3x2xi32>
  %transposed = linalg.transpose ins(%slice : tensor<2x3xi32>) outs(%empty : tensor<3x2xi32>) permutation = [1, 0]
  %sum = arith.addi %x, %transposed : tensor<3x2xi32>
  return %sum : tensor<3x2xi32>
}

// -----

// Every second element, and a permutation of three axes that a generic writes.
// CHECK-LABEL: func @strided
// CHECK-DAG: dense<[0, 2]> : tensor<2xi8>
// CHECK-DAG: dense<{{\[\[\[}}1, 7], [2, 8], [3, 9]], {{\[\[}}4, 10], [5, 11], [6, 12]]]> : tensor<2x3x2xi16>
#in = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @strided() -> (tensor<2xi8>, tensor<2x3x2xi16>) {
  %a = arith.constant dense<[0, 1, 2]> : tensor<3xi8>
  %every = tensor.extract_slice %a[0] [2] [2] : tensor<3xi8> to tensor<2xi8>
  %b = arith.constant dense<[[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]]> : tensor<2x2x3xi16>
  %empty = tensor.empty() : tensor<2x3x2xi16>
  %permuted = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : tensor<2x2x3xi16>) outs(%empty : tensor<2x3x2xi16>) {
  ^bb0(%x: i16, %y: i16):
    linalg.yield %x : i16
  } -> tensor<2x3x2xi16>
  return %every, %permuted : tensor<2xi8>, tensor<2x3x2xi16>
}

// -----

// Parts that are put together, over a number and over nothing.
// CHECK-LABEL: func @parts
// CHECK-DAG: dense<[1.000000e+00, 2.000000e+00, 5.000000e-01, 3.000000e+00]> : tensor<4xf32>
// CHECK-DAG: dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
func.func @parts() -> (tensor<4xf32>, tensor<3xf32>) {
  %half = arith.constant 0.5 : f32
  %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.constant dense<[3.0]> : tensor<1xf32>
  %empty = tensor.empty() : tensor<4xf32>
  %filled = linalg.fill ins(%half : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %0 = tensor.insert_slice %a into %filled[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %1 = tensor.insert_slice %b into %0[3] [1] [1] : tensor<1xf32> into tensor<4xf32>
  %none = tensor.empty() : tensor<3xf32>
  %2 = tensor.insert_slice %a into %none[0] [2] [1] : tensor<2xf32> into tensor<3xf32>
  %3 = tensor.insert_slice %b into %2[2] [1] [1] : tensor<1xf32> into tensor<3xf32>
  return %1, %3 : tensor<4xf32>, tensor<3xf32>
}

// -----

// Stays: what moves by a number that is not known, what would grow much, what computes.
// CHECK-LABEL: func @stays
// CHECK: tensor.extract_slice
// CHECK: tensor.insert_slice
// CHECK: linalg.generic
#same = affine_map<(d0) -> (d0)>
func.func @stays(%at: index) -> (tensor<2xf32>, tensor<1000xf32>, tensor<3xf32>) {
  %a = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %slice = tensor.extract_slice %a[%at] [2] [1] : tensor<3xf32> to tensor<2xf32>
  %large = tensor.empty() : tensor<1000xf32>
  %inserted = tensor.insert_slice %a into %large[0] [3] [1] : tensor<3xf32> into tensor<1000xf32>
  %empty = tensor.empty() : tensor<3xf32>
  %negated = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]}
      ins(%a : tensor<3xf32>) outs(%empty : tensor<3xf32>) {
  ^bb0(%x: f32, %y: f32):
    %n = arith.negf %x : f32
    linalg.yield %n : f32
  } -> tensor<3xf32>
  return %slice, %inserted, %negated : tensor<2xf32>, tensor<1000xf32>, tensor<3xf32>
}
