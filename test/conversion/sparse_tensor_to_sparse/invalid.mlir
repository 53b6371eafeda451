// Where nothing may be left, what is not taken is an error at the op, and the module stays as it was.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(convert-sparse-tensor-to-sparse{unsupported=error})'
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(convert-sparse-tensor-to-sparse{unsupported=other})' 2>&1 | FileCheck %s
// CHECK: unsupported is 'other', expected upstream or error

#ONES = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), explicitVal = 1.0 : f32 }>
// expected-error@+1 {{stores a sparse tensor in levels that no format here has}}
func.func @levels(%a: tensor<4x4xf32, #ONES>) { return }

// -----

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @result(%a: tensor<4x4xf32, #CSR>, %b: tensor<4x4xf32>, %z: tensor<4x4xf32, #CSR>) -> tensor<4x4xf32, #CSR> {
  // expected-error@+1 {{makes a sparse tensor whose entries are not known before}}
  %r = linalg.matmul ins(%a, %b : tensor<4x4xf32, #CSR>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32, #CSR>) -> tensor<4x4xf32, #CSR>
  return %r : tensor<4x4xf32, #CSR>
}

// -----

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @op(%a: tensor<4x4xf32, #CSR>) -> tensor<4x4xf32, #CSR> {
  // expected-error@+1 {{is not known here to take or give sparse tensors}}
  %r = arith.negf %a : tensor<4x4xf32, #CSR>
  return %r : tensor<4x4xf32, #CSR>
}
