// A format left at once for the one it came from folds; packing that may fail, or look for duplicates, stays.
// RUN: %tile_opt %s --canonicalize | FileCheck %s
// RUN: %mlir_opt_plugin %s --canonicalize | FileCheck %s

// CHECK-LABEL: @there_and_back(
// CHECK-SAME: %[[D:.*]]: tensor<4x8xi32>
// CHECK-NEXT: return %[[D]]
func.func @there_and_back(%d: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %w = sparse.pack %d : tensor<4x8xi32> -> tensor<4x8xi32, #sparse.csr>
  %r = sparse.unpack %w : tensor<4x8xi32, #sparse.csr> -> tensor<4x8xi32>
  return %r : tensor<4x8xi32>
}

// -0.0 comes back as 0.0.
// CHECK-LABEL: @loses_signs(
// CHECK: sparse.pack
// CHECK: sparse.unpack
func.func @loses_signs(%d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %w = sparse.pack %d : tensor<4x8xf32> -> tensor<4x8xf32, #sparse.csr>
  %r = sparse.unpack %w : tensor<4x8xf32, #sparse.csr> -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// CHECK-LABEL: @may_fail(
// CHECK: sparse.pack
// CHECK: sparse.unpack
func.func @may_fail(%d: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %w = sparse.pack %d : tensor<4x8xi32> -> tensor<4x8xi32, #sparse.nm<n = 2, m = 4>>
  %r = sparse.unpack %w : tensor<4x8xi32, #sparse.nm<n = 2, m = 4>> -> tensor<4x8xi32>
  return %r : tensor<4x8xi32>
}

// CHECK-LABEL: @same_format(
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32, #sparse.csr>
// CHECK-NOT: sparse.convert
// CHECK: return %[[A]]
func.func @same_format(%a: tensor<4x8xf32, #sparse.csr>) -> tensor<4x8xf32, #sparse.csr> {
  %b = sparse.convert %a : tensor<4x8xf32, #sparse.csr> -> tensor<4x8xf32, #sparse.csr>
  return %b : tensor<4x8xf32, #sparse.csr>
}

// CHECK-LABEL: @looks_for_duplicates(
// CHECK: sparse.convert
func.func @looks_for_duplicates(%a: tensor<4x8xf32, #sparse.coo<unordered>>) -> tensor<4x8xf32, #sparse.coo<unordered>> {
  %b = sparse.convert %a duplicates(error)
      : tensor<4x8xf32, #sparse.coo<unordered>> -> tensor<4x8xf32, #sparse.coo<unordered>>
  return %b : tensor<4x8xf32, #sparse.coo<unordered>>
}

// CHECK-LABEL: @parts(
// CHECK-SAME: %[[P:.*]]: tensor<5xi32>, %[[C:.*]]: tensor<?xi32>, %[[V:.*]]: tensor<?xf32>
// CHECK-NEXT: return %[[P]], %[[V]]
func.func @parts(%p: tensor<5xi32>, %c: tensor<?xi32>, %v: tensor<?xf32>) -> (tensor<5xi32>, tensor<?xf32>) {
  %a = sparse.assemble(%p, %c, %v) : tensor<5xi32>, tensor<?xi32>, tensor<?xf32> -> tensor<4x8xf32, #sparse.csr>
  %q:3 = sparse.disassemble %a : tensor<4x8xf32, #sparse.csr> -> tensor<5xi32>, tensor<?xi32>, tensor<?xf32>
  return %q#0, %q#2 : tensor<5xi32>, tensor<?xf32>
}
