// What the ops that route rows to groups must not say.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

func.func @f(%n: tensor<8x8xi32>) {
  // expected-error@+1 {{numbers are tensor<8x8xi32>, expected rank 1 and elements i32 or i64}}
  %p, %c = sparse.group %n : tensor<8x8xi32> -> tensor<5xi32>, tensor<8xi32>
  return
}

// -----

func.func @f(%n: tensor<8xi32>, %g: index) {
  // expected-error@+1 {{has 0 numbers of groups for positions tensor<?xi32>, expected 1}}
  %p, %c = sparse.group %n : tensor<8xi32> -> tensor<?xi32>, tensor<8xi32>
  return
}

// -----

func.func @f(%n: tensor<8xi32>, %g: index) {
  // expected-error@+1 {{has 1 numbers of groups for positions tensor<5xi32>, expected 0}}
  %p, %c = sparse.group %n into %g : tensor<8xi32> -> tensor<5xi32>, tensor<8xi32>
  return
}

// -----

func.func @f(%n: tensor<8xi32>) {
  // expected-error@+1 {{positions has size 0, expected 1 or more}}
  %p, %c = sparse.group %n : tensor<8xi32> -> tensor<0xi32>, tensor<8xi32>
  return
}

// -----

func.func @f(%n: tensor<8xi32>) {
  // expected-error@+1 {{coordinates are tensor<?xi32>, expected as many as numbers, tensor<8xi32>}}
  %p, %c = sparse.group %n : tensor<8xi32> -> tensor<5xi32>, tensor<?xi32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %y: tensor<8x6xf32>, %p: tensor<5xi32>, %c: tensor<8xi32>) {
  // expected-error@+1 {{rhs has rank 2, expected 3}}
  %r = sparse.grouped_matmul %x, %w, %y by(%p, %c) : tensor<8x4xf32>, tensor<4x6xf32>, tensor<8x6xf32>, tensor<5xi32>, tensor<8xi32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %w: tensor<4x4x6xf16>, %y: tensor<8x6xf32>, %p: tensor<5xi32>, %c: tensor<8xi32>) {
  // expected-error@+1 {{multiplies tensor<8x4xf32> by tensor<4x4x6xf16>, expected equal element types}}
  %r = sparse.grouped_matmul %x, %w, %y by(%p, %c) : tensor<8x4xf32>, tensor<4x4x6xf16>, tensor<8x6xf32>, tensor<5xi32>, tensor<8xi32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %w: tensor<4x4x6xf32>, %y: tensor<8x6xf16>, %p: tensor<5xi32>, %c: tensor<8xi32>) {
  // expected-error@+1 {{init has elements f16, expected those of the factors, f32, or wider ones of their kind}}
  %r = sparse.grouped_matmul %x, %w, %y by(%p, %c) : tensor<8x4xf32>, tensor<4x4x6xf32>, tensor<8x6xf16>, tensor<5xi32>, tensor<8xi32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %w: tensor<4x4x6xf32>, %y: tensor<8x6xf32>, %p: tensor<4xi32>, %c: tensor<8xi32>) {
  // expected-error@+1 {{positions has size 4 along axis 0, expected 5}}
  %r = sparse.grouped_matmul %x, %w, %y by(%p, %c) : tensor<8x4xf32>, tensor<4x4x6xf32>, tensor<8x6xf32>, tensor<4xi32>, tensor<8xi32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %w: tensor<4x4x6xf32>, %y: tensor<8x6xf32>, %p: tensor<5xi32>, %c: tensor<8xi32>) {
  // expected-error@+1 {{rhs has size 6 along axis 2, expected 4}}
  %r = sparse.grouped_matmul %x, %w transpose, %y by(%p, %c) : tensor<8x4xf32>, tensor<4x4x6xf32>, tensor<8x6xf32>, tensor<5xi32>, tensor<8xi32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>, %w: tensor<4x4x6xf32>, %y: tensor<8x6xf32>, %p: tensor<5xi32>, %c: tensor<8xi32>) {
  %a = sparse.grouped_matmul %x gather 2, %w, %y by(%p, %c) : tensor<4x4xf32>, tensor<4x4x6xf32>, tensor<8x6xf32>, tensor<5xi32>, tensor<8xi32>
  // expected-error@+1 {{lhs has size 4 along axis 0, expected 8}}
  %r = sparse.grouped_matmul %x, %w, %y by(%p, %c) : tensor<4x4xf32>, tensor<4x4x6xf32>, tensor<8x6xf32>, tensor<5xi32>, tensor<8xi32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %w: tensor<4x4x6xf32>, %y: tensor<8x6xf32>, %p: tensor<5xi32>, %c: tensor<8xi32>) {
  // expected-error@+1 {{gather is 0, expected 1 or more}}
  %r = sparse.grouped_matmul %x gather 0, %w, %y by(%p, %c) : tensor<8x4xf32>, tensor<4x4x6xf32>, tensor<8x6xf32>, tensor<5xi32>, tensor<8xi32>
  return
}
