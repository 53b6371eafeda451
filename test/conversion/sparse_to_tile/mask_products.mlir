// The product of a #sparse.mask: the mask is listed row by row; no entry is sorted. On CPUs the named tiles are gathered
// as they are packed, unless most tiles are named and the other factor is finite; on GPUs they are gathered in memory.
// What stands transposed goes by lines. Results: test/run/sparse/sparse.test and mask_products.test.
// RUN: %tile_opt %s --convert-sparse-to-tile=chip=x86-64-v4 | FileCheck %s
// RUN: %tile_opt %s --convert-sparse-to-tile=chip=sm_80 | FileCheck %s --check-prefix=GPU

// CHECK-LABEL: func.func @columns
// CHECK: %[[N:.*]] = tile.launch @count_rows
// CHECK: tile.launch @positions
// CHECK: %[[ISMOST:.*]] = arith.cmpi sgt
// CHECK: %[[ISDENSE:.*]] = scf.if %[[ISMOST]] -> (i1)
// CHECK: tile.launch @count_rows
// CHECK: arith.cmpi eq
// CHECK: } else {
// CHECK: arith.constant false
// CHECK: scf.if %[[ISDENSE]]
// CHECK: linalg.matmul
// CHECK: } else {
// CHECK: tile.launch @list_tiles
// CHECK: tile.launch @spmm_named
// CHECK-NOT: @sort_by_key
// CHECK: return
// GPU-LABEL: func.func @columns
// GPU-NOT: scf.if
// GPU: tile.launch @list_tiles
// GPU: tile.launch @gather_columns
// GPU: tile.launch @spmm_bsr
// GPU: return
func.func @columns(%a: tensor<64x?xf32, #sparse.mask<tile = [32, 1]>>, %b: tensor<?x16xf32>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %r = sparse.spmm %a, %b, %c : tensor<64x?xf32, #sparse.mask<tile = [32, 1]>>, tensor<?x16xf32>, tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}

// CHECK-LABEL: func.func @blocks
// CHECK: tile.launch @spmm_named
// GPU-LABEL: func.func @blocks
// GPU: tile.launch @gather_blocks
// GPU: tile.launch @spmm_bsr
func.func @blocks(%a: tensor<64x48xf32, #sparse.mask<tile = [8, 4]>>, %b: tensor<48x16xf32>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %r = sparse.spmm %a, %b, %c : tensor<64x48xf32, #sparse.mask<tile = [8, 4]>>, tensor<48x16xf32>, tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}

// CHECK-LABEL: func.func @transposed
// CHECK: tile.launch @sort_by_key
func.func @transposed(%a: tensor<48x64xf32, #sparse.mask<tile = [8, 4]>>, %b: tensor<48x16xf32>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %r = sparse.spmm %a transpose, %b, %c : tensor<48x64xf32, #sparse.mask<tile = [8, 4]>>, tensor<48x16xf32>, tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}
