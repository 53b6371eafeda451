// Level lists become formats, ops on them sparse ops; a function with anything else becomes kernels that walk levels.
// RUN: %tile_opt %s --convert-sparse-tensor-to-sparse 2>&1 | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(convert-sparse-tensor-to-sparse)' 2>&1 | FileCheck %s
// RUN: %tile_opt %s --convert-sparse-tensor-to-sparse 2>/dev/null | not grep '#sparse_tensor'

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed), posWidth = 32, crdWidth = 8 }>
#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton), crdWidth = 32 }>
#SOA = #sparse_tensor.encoding<{ map = (i, j, k) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered, soa), k : singleton(nonordered, soa)) }>
#BSR = #sparse_tensor.encoding<{ map = ( i, j ) -> ( i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense), posWidth = 32, crdWidth = 32 }>
#NM = #sparse_tensor.encoding<{ map = ( i, j ) -> ( j : dense, i floordiv 8 : dense, i mod 8 : structured[3, 8]) }>
#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed), crdWidth = 32 }>
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>

// CHECK-NOT: left to upstream's sparsifier

// CHECK-DAG: #[[NM:.*]] = #sparse.nm<n = 3, m = 8, axis = 0>
// CHECK-DAG: #[[BSR:.*]] = #sparse.bsr<block = [2, 3]>
// CHECK: func.func private @formats(tensor<?x8xf32, #sparse.csr<positions = i64, coordinates = i64>>, tensor<8x8xi8, #sparse.csc>,
// CHECK-SAME: tensor<8x8xf64, #sparse.coo>, tensor<2x3x4xf32, #sparse.coo<coordinates = i64, unordered>>,
// CHECK-SAME: tensor<?x?xf16, #[[BSR]]>, tensor<8x8xf32, #[[NM]]>, tensor<8xf32, #sparse.coo>)
func.func private @formats(tensor<?x8xf32, #CSR>, tensor<8x8xi8, #CSC>, tensor<8x8xf64, #COO>, tensor<2x3x4xf32, #SOA>, tensor<?x?xf16, #BSR>, tensor<8x8xf32, #NM>, tensor<8xf32, #V>)

// Coordinates that stand together by entry are turned around; those beyond the last entry are left out.
// CHECK-LABEL: func.func @entries(
// CHECK-SAME: %[[P:.*]]: tensor<2xindex>, %[[C:.*]]: tensor<?x2xi32>, %[[V:.*]]: tensor<?xf64>)
// CHECK: %[[N:.*]] = tensor.extract %[[P]][%c1]
// CHECK-DAG: %[[VALUES:.*]] = tensor.extract_slice %[[V]][0] [%[[N]]] [1]
// CHECK-DAG: %[[FIRST:.*]] = tensor.extract_slice %[[C]][0, 0] [%[[N]], 2] [1, 1]
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[FIRST]]
// CHECK: %[[A:.*]] = sparse.assemble(%[[T]], %[[VALUES]]) : tensor<2x?xi32>, tensor<?xf64> -> tensor<8x8xf64, #sparse.coo>
// CHECK: sparse.unpack %[[A]]
func.func @entries(%p: tensor<2xindex>, %c: tensor<?x2xi32>, %v: tensor<?xf64>) -> tensor<8x8xf64> {
  %a = sparse_tensor.assemble (%p, %c), %v : (tensor<2xindex>, tensor<?x2xi32>), tensor<?xf64> to tensor<8x8xf64, #COO>
  %d = sparse_tensor.convert %a : tensor<8x8xf64, #COO> to tensor<8x8xf64>
  return %d : tensor<8x8xf64>
}

// The caller's buffers with what is stored at their beginnings, and how much of each that is.
// CHECK-LABEL: func.func @parts(
// CHECK: %[[D:.*]]:3 = sparse.disassemble %{{.*}} : tensor<?x?xf16, #[[BSR]]> -> tensor<?xi32>, tensor<?xi32>, tensor<?x2x3xf16>
// CHECK: %[[ROW:.*]] = tensor.collapse_shape %[[D]]#2
// CHECK: tensor.insert_slice %[[ROW]] into %{{.*}}[0]
// CHECK: bufferization.to_buffer %{{.*}} read_only : tensor<?xi32> to memref<?xi32>
// CHECK: tensor.dim %{{.*}} : tensor<?x?xf16, #[[BSR]]>
func.func @parts(%a: tensor<?x?xf16, #BSR>, %p: tensor<?xi32>, %c: tensor<?xi32>, %v: tensor<?xf16>) -> (tensor<?xf16>, memref<?xi32>, index, index) {
  %rp, %rc, %rv, %lp, %lc, %lv = sparse_tensor.disassemble %a : tensor<?x?xf16, #BSR> out_lvls(%p, %c : tensor<?xi32>, tensor<?xi32>) out_vals(%v : tensor<?xf16>) -> (tensor<?xi32>, tensor<?xi32>), tensor<?xf16>, (index, index), index
  %m = sparse_tensor.coordinates %a { level = 1 : index } : tensor<?x?xf16, #BSR> to memref<?xi32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf16, #BSR>
  return %rv, %m, %lv, %n : tensor<?xf16>, memref<?xi32>, index, index
}

// Products by their maps: Bᵀ·A with the result transposed is Aᵀ·B. A sampled one into an empty tensor stays sparse.
// CHECK-LABEL: func.func @products(
// CHECK: sparse.spmm %arg0 transpose, %arg1, %arg2 : tensor<8x8xi8, #sparse.csc>, tensor<8x3xi8>, tensor<8x3xi32>
// CHECK: %[[S:.*]] = sparse.sddmm %arg4, %arg5 transpose, %arg3
// CHECK: %[[R:.*]] = sparse.mul %[[S]], %arg3
// CHECK-NOT: sparse.pack
// CHECK: return %{{.*}}, %[[R]]
func.func @products(%a: tensor<8x8xi8, #CSC>, %b: tensor<8x3xi8>, %z: tensor<8x3xi32>, %s: tensor<8x8xf32, #CSR>, %q: tensor<8x4xf32>, %k: tensor<8x4xf32>)
    -> (tensor<8x3xi32>, tensor<8x8xf32, #CSR>) {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%b, %a : tensor<8x3xi8>, tensor<8x8xi8, #CSC>) outs(%z : tensor<8x3xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extsi %y : i8 to i32
    %p = arith.muli %xw, %yw : i32
    %t = arith.addi %o, %p : i32
    linalg.yield %t : i32
  } -> tensor<8x3xi32>
  %e = tensor.empty() : tensor<8x8xf32, #CSR>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k, %s : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x8xf32, #CSR>) outs(%e : tensor<8x8xf32, #CSR>) {
  ^bb0(%x: f32, %y: f32, %w: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %u = arith.mulf %w, %p : f32
    %t = arith.addf %o, %u : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32, #CSR>
  return %r, %d : tensor<8x3xi32>, tensor<8x8xf32, #CSR>
}

// A function without sparse tensors stays, though its neighbours do not.
// CHECK-LABEL: func.func @dense(
// CHECK-SAME: tensor<4xf32>
func.func @dense(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }

// Levels that no format here has are walked by kernels: arrays of levels in place of the tensor.
// CHECK-LABEL: func.func @sums(
// CHECK-SAME: tensor<8xf32>
// CHECK: tile.launch @fill_entries
// CHECK-LABEL: func.func private @sum(
// CHECK-SAME: tensor<?xi64>, %{{[^:]*}}: tensor<?xi64>, %{{[^:]*}}: tensor<?xi64>, %{{[^:]*}}: tensor<?xi64>, %{{[^:]*}}: tensor<?xf32>,
// CHECK: tile.launch @contract_levels
func.func @sums(%d: tensor<8x8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %a = sparse_tensor.convert %d : tensor<8x8xf32> to tensor<8x8xf32, #DCSR>
  %r = func.call @sum(%a, %y) : (tensor<8x8xf32, #DCSR>, tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func private @sum(%a: tensor<8x8xf32, #DCSR>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x8xf32, #DCSR>) outs(%y : tensor<8xf32>) {
  ^bb0(%e: f32, %s: f32):
    %t = arith.addf %e, %s : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @reduces(%a: tensor<8x8xf32, #CSR>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<8x8xf32, #CSR>) outs(%y : tensor<8xf32>) {
  ^bb0(%e: f32, %s: f32):
    %t = arith.addf %e, %s : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
