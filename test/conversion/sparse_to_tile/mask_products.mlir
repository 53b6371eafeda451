// The product of a #sparse.mask: the mask is listed row by row; no entry is sorted. On CPUs the named tiles are gathered
// as they are packed, unless most tiles are named and the other factor is finite; on GPUs as they are loaded, tiles of less
// than 16 lines in memory.
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
// GPU: tile.launch @list_columns
// GPU-NOT: tile.launch
// GPU: tile.launch @spmm_listed
// GPU-NOT: tile.launch
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

// A mask with an element for each: 16 lines become a micro-tile's.
// CHECK-LABEL: func.func @elements
// CHECK: tile.launch @combine_mask
// CHECK: tile.launch @spmm_named
// GPU-LABEL: func.func @elements
// GPU: tile.launch @list_columns
// GPU: tile.launch @spmm_listed
func.func @elements(%a: tensor<64x48xf32, #sparse.mask<tile = [1, 1]>>, %b: tensor<48x16xf32>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %r = sparse.spmm %a, %b, %c {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 16>} : tensor<64x48xf32, #sparse.mask<tile = [1, 1]>>, tensor<48x16xf32>, tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}

// A select by the mask itself is looked through: three ways, by the count and by what is hidden in micro-tiles.
// CHECK-LABEL: func.func @select
// CHECK: tile.launch @combine_mask
// CHECK: scf.if
// CHECK: linalg.matmul ins(%arg1,
// CHECK: } else {
// CHECK: scf.if
// CHECK: linalg.generic
// CHECK: linalg.matmul
// CHECK: } else {
// CHECK: tile.launch @list_tiles
// CHECK: scf.if
// CHECK: tile.launch @spmm_named{{.*}} ins(%{{.*}}, %{{.*}}, %arg0, %arg1,
// CHECK: } else {
// CHECK: tile.launch @spmm_named{{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}}, %arg1,
// GPU-LABEL: func.func @select
// GPU: tile.launch @spmm_listed{{.*}} ins(%{{.*}}, %arg0, %arg1,
func.func @select(%m: tensor<64x48xi1>, %x: tensor<64x48xf32>, %b: tensor<48x16xf32>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i, k)>], iterator_types = ["parallel", "parallel"]} ins(%m, %x : tensor<64x48xi1>, tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) {
  ^bb0(%p: i1, %v: f32, %o: f32):
    %q = arith.select %p, %v, %z : f32
    linalg.yield %q : f32
  } -> tensor<64x48xf32>
  %a = sparse.assemble(%m, %s) : tensor<64x48xi1>, tensor<64x48xf32> -> tensor<64x48xf32, #sparse.mask<tile = [1, 1]>>
  %r = sparse.spmm %a, %b, %c {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 16>} : tensor<64x48xf32, #sparse.mask<tile = [1, 1]>>, tensor<48x16xf32>, tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}

// A mask by element is covered: micro-tiles with many elements are gathered, and the elements outside of them are listed
// with their values, and multiplied as csr into the first product. Or all micro-tiles are gathered, where that is cheaper. On
// GPUs they are in any case.
// CHECK-LABEL: func.func @single
// CHECK: %[[MADE:.*]]:5 = tile.launch @cover_mask
// CHECK: linalg.matmul
// CHECK: tile.launch @count_rows{{.*}} ins(%[[MADE]]#2 :
// CHECK: %[[ISCOVERED:.*]] = arith.cmpi sgt
// CHECK: scf.if %[[ISCOVERED]]
// CHECK: %[[FIRST:.*]] = scf.if
// CHECK: tile.launch @list_tiles{{.*}} ins(%[[MADE]]#2,
// CHECK: tile.launch @spmm_named
// CHECK: scf.if
// CHECK: %[[LISTED:.*]]:2 = tile.launch @list_entries{{.*}} ins(%arg0, %[[MADE]]#2, %arg1,
// CHECK: tile.launch @spmm_csr{{.*}} ins(%{{.*}}, %[[LISTED]]#0, %[[LISTED]]#1, %arg2{{.*}} outs(%[[FIRST]]
// CHECK: } else {
// CHECK: tile.launch @list_tiles{{.*}} ins(%[[MADE]]#0,
// CHECK: tile.launch @spmm_named
// GPU-LABEL: func.func @single
// GPU-NOT: list_entries
// GPU: tile.launch @spmm_listed
func.func @single(%m: tensor<64x48xi1>, %v: tensor<64x48xf32>, %b: tensor<48x16xf32>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %a = sparse.assemble(%m, %v) : tensor<64x48xi1>, tensor<64x48xf32> -> tensor<64x48xf32, #sparse.mask<tile = [1, 1]>>
  %r = sparse.spmm %a, %b, %c {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 16, entry_cost = 250>} : tensor<64x48xf32, #sparse.mask<tile = [1, 1]>>, tensor<48x16xf32>, tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}
