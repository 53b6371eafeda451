// Formats become level lists, sparse ops upstream's; and what has none is an error at the op.
// RUN: split-file %s %t
// RUN: %tile_opt %t/export.mlir --convert-sparse-to-sparse-tensor | FileCheck %t/export.mlir
// RUN: %tile_opt %t/export.mlir --convert-sparse-to-sparse-tensor --convert-sparse-tensor-to-sparse | FileCheck %t/export.mlir --check-prefix=BACK
// RUN: %tile_opt %t/invalid.mlir --split-input-file --verify-diagnostics --convert-sparse-to-sparse-tensor

//--- export.mlir
// CHECK-DAG: #[[CSR:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed), posWidth = 32, crdWidth = 64 }>
// CHECK-DAG: #[[CSC:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed), posWidth = 32, crdWidth = 32 }>
// CHECK-DAG: #[[COO:.*]] = #sparse_tensor.encoding<{ map = (d0, d1, d2) -> (d0 : compressed(nonunique, nonordered), d1 : singleton(nonunique, nonordered, soa), d2 : singleton(nonordered, soa)), crdWidth = 32 }>
// CHECK-DAG: #[[BSR:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 floordiv 2 : dense, d1 floordiv 3 : compressed, d0 mod 2 : dense, d1 mod 3 : dense), posWidth = 32, crdWidth = 32 }>
// CHECK-DAG: #[[NM:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 floordiv 8 : dense, d0 mod 8 : structured[3, 8]), crdWidth = 8 }>
// CHECK: func.func private @formats(tensor<?x8xf32, #[[CSR]]>, tensor<8x8xf32, #[[CSC]]>, tensor<2x3x4xf32, #[[COO]]>, tensor<8x8xf32, #[[BSR]]>, tensor<8x8xf32, #[[NM]]>)
// BACK: func.func private @formats(tensor<?x8xf32, #sparse.csr<coordinates = i64>>, tensor<8x8xf32, #sparse.csc>, tensor<2x3x4xf32, #sparse.coo<unordered>>, tensor<8x8xf32, #bsr>, tensor<8x8xf32, #nm>)
func.func private @formats(tensor<?x8xf32, #sparse.csr<coordinates = i64>>, tensor<8x8xf32, #sparse.csc>, tensor<2x3x4xf32, #sparse.coo<unordered>>,
    tensor<8x8xf32, #sparse.bsr<block = [2, 3]>>, tensor<8x8xf32, #sparse.nm<n = 3, m = 8, axis = 0>>)

// CHECK-LABEL: func.func @ops(
// CHECK: %[[A:.*]] = sparse_tensor.assemble (%arg0, %arg1), %arg2
// CHECK: sparse_tensor.convert %[[A]] : tensor<4x6xf32, #{{.*}}> to tensor<4x6xf32>
// CHECK: linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[A]], %arg3
// BACK-LABEL: func.func @ops(
// BACK: %[[A:.*]] = sparse.assemble(%arg0, %arg1, %arg2)
// BACK: sparse.unpack %[[A]]
// BACK: sparse.spmm %[[A]], %arg3 transpose, %arg4
func.func @ops(%p: tensor<5xi32>, %c: tensor<?xi32>, %v: tensor<?xf32>, %b: tensor<3x6xf32>, %z: tensor<4x3xf32>) -> (tensor<4x6xf32>, tensor<4x3xf32>) {
  %a = sparse.assemble(%p, %c, %v) : tensor<5xi32>, tensor<?xi32>, tensor<?xf32> -> tensor<4x6xf32, #sparse.csr>
  %d = sparse.unpack %a : tensor<4x6xf32, #sparse.csr> -> tensor<4x6xf32>
  %r = sparse.spmm %a, %b transpose, %z : tensor<4x6xf32, #sparse.csr>, tensor<3x6xf32>, tensor<4x3xf32>
  return %d, %r : tensor<4x6xf32>, tensor<4x3xf32>
}

//--- invalid.mlir
// expected-error@+1 {{tensor<8x8xf32, #sparse.nm<n = 2, m = 4, vector = [2, 1]>> has no level list in sparse_tensor}}
func.func @f(%a: tensor<8x8xf32, #sparse.nm<n = 2, m = 4, vector = [2, 1]>>) { return }

// -----

func.func @f(%a: tensor<8x8xf32, #sparse.csr>, %x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{combines stored entries only, which linalg can say of add_mul alone}}
  %r = sparse.spmv %a, %x, %x over max_plus : tensor<8x8xf32, #sparse.csr>, tensor<8xf32>, tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @f(%a: tensor<8x8xf32, #sparse.csr>, %x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{combines stored entries only, which linalg can say of add alone}}
  %r = sparse.reduce max %a along 1, %x : tensor<8x8xf32, #sparse.csr>, tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @f(%a: tensor<8x8xf32, #sparse.coo<unordered>>) -> tensor<8x8xf32, #sparse.csr> {
  // expected-error@+1 {{refuses duplicates, which sparse_tensor.convert cannot}}
  %r = sparse.convert %a duplicates(error) : tensor<8x8xf32, #sparse.coo<unordered>> -> tensor<8x8xf32, #sparse.csr>
  return %r : tensor<8x8xf32, #sparse.csr>
}

// -----

func.func @f(%p: tensor<?xi32>, %c: tensor<?xi32>, %v: tensor<?xf32>, %m: index) -> tensor<?x8xf32, #sparse.csr> {
  // expected-error@+1 {{makes a tensor of open sizes, which sparse_tensor.assemble cannot}}
  %r = sparse.assemble(%p, %c, %v) sizes [%m] : tensor<?xi32>, tensor<?xi32>, tensor<?xf32> -> tensor<?x8xf32, #sparse.csr>
  return %r : tensor<?x8xf32, #sparse.csr>
}

// -----

func.func @f(%a: tensor<8x8xf32, #sparse.csr>) -> tensor<8x8xf32, #sparse.csc> {
  // expected-error@+1 {{'sparse.transpose' of sparse tensors has no counterpart in sparse_tensor}}
  %r = sparse.transpose %a : tensor<8x8xf32, #sparse.csr> -> tensor<8x8xf32, #sparse.csc>
  return %r : tensor<8x8xf32, #sparse.csc>
}
