// The product of a #sparse.mask: the mask is listed row by row and the named tiles gathered; no entry is sorted. What
// stands transposed goes by lines. Results: test/run/sparse/sparse.test and mask_products.test.
// RUN: %tile_opt %s --convert-sparse-to-tile | FileCheck %s

// CHECK-LABEL: func.func @columns
// CHECK: tile.launch @count_rows
// CHECK: tile.launch @positions
// CHECK: tile.launch @list_tiles
// CHECK: tile.launch @gather_columns
// CHECK: tile.launch @spmm_bsr
// CHECK-NOT: @sort_by_key
// CHECK: return
func.func @columns(%a: tensor<64x?xf32, #sparse.mask<tile = [32, 1]>>, %b: tensor<?x16xf32>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %r = sparse.spmm %a, %b, %c : tensor<64x?xf32, #sparse.mask<tile = [32, 1]>>, tensor<?x16xf32>, tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}

// CHECK-LABEL: func.func @blocks
// CHECK: tile.launch @gather_blocks
// CHECK: tile.launch @spmm_bsr
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
