// What the ops on run-time micro-tiles must not say.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<64x128xf32, #sparse.csr>) {
  // expected-error@+1 {{expected a dense matrix or one of #sparse.mask}}
  %p, %c = sparse.detect %a along 1 : tensor<64x128xf32, #sparse.csr> -> tensor<2xi32>, tensor<?xi32>
  return
}

// -----

func.func @f(%a: tensor<64xf32>) {
  // expected-error@+1 {{input has rank 1, expected 2}}
  %p, %c = sparse.detect %a along 0 : tensor<64xf32> -> tensor<2xi32>, tensor<?xi32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32>) {
  // expected-error@+1 {{axis is 2, expected 0 to 1}}
  %p, %c = sparse.detect %a along 2 : tensor<64x128xf32> -> tensor<2xi32>, tensor<?xi32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32>) {
  // expected-error@+1 {{by is 0, expected 1 to 2147483647}}
  %p, %c = sparse.detect %a along 1 by 0 : tensor<64x128xf32> -> tensor<2xi32>, tensor<?xi32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32>) {
  // expected-error@+1 {{lines is 0, expected 1 to 2147483647}}
  %p, %c = sparse.detect %a along 1 lines 0 : tensor<64x128xf32> -> tensor<2xi32>, tensor<?xi32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32>) {
  // expected-error@+1 {{positions are tensor<2xi8>, expected rank 1 and elements i32 or i64}}
  %p, %c = sparse.detect %a along 1 : tensor<64x128xf32> -> tensor<2xi8>, tensor<?xi32>
  return
}

// -----

func.func @f(%a: tensor<64x128xindex>) {
  // expected-error@+1 {{looks at elements index, expected floats or integers}}
  %p, %c = sparse.detect %a along 1 : tensor<64x128xindex> -> tensor<2xi32>, tensor<?xi32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32>) {
  %p, %c = sparse.detect %a along 1 lines 60 : tensor<64x128xf32> -> tensor<3xi32>, tensor<?xi32>
  // expected-error@+1 {{type of positions is tensor<2xi32>, expected size 3 along axis 0}}
  %q, %d = sparse.detect %a along 1 lines 60 : tensor<64x128xf32> -> tensor<2xi32>, tensor<?xi32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32>) {
  // expected-error@+1 {{type of coordinates is tensor<128xi32>, expected an open size along axis 0}}
  %p, %c = sparse.detect %a along 1 : tensor<64x128xf32> -> tensor<2xi32>, tensor<128xi32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32>, %l: tensor<3x4xi32>) {
  // expected-error@+1 {{coordinates are tensor<3x4xi32>, expected rank 1 and elements i32 or i64}}
  %p = sparse.sread %a[%l] along 1 : tensor<64x128xf32>, tensor<3x4xi32> -> tensor<64x3xf32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32>, %l: tensor<3xi32>) {
  // expected-error@+1 {{type of result is tensor<64x3xf32>, expected size 6 along axis 1}}
  %p = sparse.sread %a[%l] along 1 by 2 : tensor<64x128xf32>, tensor<3xi32> -> tensor<64x3xf32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32>, %l: tensor<?xi32>) {
  // expected-error@+1 {{type of result is tensor<32x?xf32>, expected size 64 along axis 0}}
  %p = sparse.sread %a[%l] along 1 : tensor<64x128xf32>, tensor<?xi32> -> tensor<32x?xf32>
  return
}

// -----

func.func @f(%a: tensor<64x128xf32>, %l: tensor<?xi32>) {
  // expected-error@+1 {{result is tensor<64x?xf16>, expected the elements of source, f32}}
  %p = sparse.sread %a[%l] along 1 : tensor<64x128xf32>, tensor<?xi32> -> tensor<64x?xf16>
  return
}

// -----

func.func @f(%p: tensor<?x128xf32>, %c: tensor<64x128xf32>, %l: tensor<3xi32>) {
  // expected-error@+1 {{type of packed is tensor<?x128xf32>, expected size 3 along axis 0}}
  %r = sparse.swrite %p, %c[%l] along 0 : tensor<?x128xf32>, tensor<64x128xf32>, tensor<3xi32>
  return
}

// -----

func.func @f(%p: tensor<3xf32>, %c: tensor<64x128xf32>, %l: tensor<3xi32>) {
  // expected-error@+1 {{packed has rank 1, expected 2}}
  %r = sparse.swrite %p, %c[%l] along 0 : tensor<3xf32>, tensor<64x128xf32>, tensor<3xi32>
  return
}
