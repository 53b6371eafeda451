// RUN: %tile_opt %s --split-input-file --convert-sparse-to-tile=chip=x86-64-v4 | FileCheck %s
// RUN: %tile_opt %s --split-input-file --convert-sparse-to-tile=chip=sm_80 | FileCheck %s --check-prefix=GPU
// Rows of the dense factor are copied where the windows of a line reach more of them than the innermost cache holds.
// GPU-NOT: @spmm_windows

// A line by itself: eight vectors of columns, 64 rows of them are two windows; 256 lines go through them.
// CHECK: = !tile.buffer<64x128xf32, {{.*}}, local>
// CHECK-LABEL: func.func @lines
// CHECK: tile.launch @spmm_windows
// CHECK: tile.prefetch {{.*}} : !tile.view<32xf32>
func.func @lines(%p: tensor<4096x128x16xi8>, %v: tensor<4096x128x16x1xf32>, %x: tensor<4096x256xf32>, %y: tensor<4096x256xf32>) -> tensor<4096x256xf32> {
  %w = sparse.assemble(%p, %v) : tensor<4096x128x16xi8>, tensor<4096x128x16x1xf32> -> tensor<4096x4096xf32, #sparse.nm<n = 16, m = 32>>
  %r = sparse.spmm %w, %x, %y : tensor<4096x4096xf32, #sparse.nm<n = 16, m = 32>>, tensor<4096x256xf32>, tensor<4096x256xf32>
  return %r : tensor<4096x256xf32>
}

// -----

// Lines that share their places: a tile of four lines.
// CHECK: = !tile.buffer<128x64xf32, {{.*}}, local>
// CHECK-LABEL: func.func @shared
// CHECK: tile.launch @spmm_windows
func.func @shared(%p: tensor<?x?x8xi8>, %v: tensor<?x?x8x32xf32>, %x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %m: index, %k: index) -> tensor<?x?xf32> {
  %w = sparse.assemble(%p, %v) sizes [%m, %k] : tensor<?x?x8xi8>, tensor<?x?x8x32xf32> -> tensor<?x?xf32, #sparse.nm<n = 8, m = 32, vector = [32, 1]>>
  %r = sparse.spmm %w, %x, %y : tensor<?x?xf32, #sparse.nm<n = 8, m = 32, vector = [32, 1]>>, tensor<?x?xf32>, tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// The rows are in the cache already.
// CHECK-LABEL: func.func @few_rows
// CHECK: tile.launch @spmm_nm
func.func @few_rows(%p: tensor<64x2x16xi8>, %v: tensor<64x2x16x1xf32>, %x: tensor<64x256xf32>, %y: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %w = sparse.assemble(%p, %v) : tensor<64x2x16xi8>, tensor<64x2x16x1xf32> -> tensor<64x64xf32, #sparse.nm<n = 16, m = 32>>
  %r = sparse.spmm %w, %x, %y : tensor<64x64xf32, #sparse.nm<n = 16, m = 32>>, tensor<64x256xf32>, tensor<64x256xf32>
  return %r : tensor<64x256xf32>
}

// -----

// Few columns: a row has one vector.
// CHECK-LABEL: func.func @few_columns
// CHECK: tile.launch @spmm_nm
func.func @few_columns(%p: tensor<64x128x16xi8>, %v: tensor<64x128x16x1xf32>, %x: tensor<4096x16xf32>, %y: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %w = sparse.assemble(%p, %v) : tensor<64x128x16xi8>, tensor<64x128x16x1xf32> -> tensor<64x4096xf32, #sparse.nm<n = 16, m = 32>>
  %r = sparse.spmm %w, %x, %y : tensor<64x4096xf32, #sparse.nm<n = 16, m = 32>>, tensor<4096x16xf32>, tensor<64x16xf32>
  return %r : tensor<64x16xf32>
}

// -----

// One column: places of each line's own are looked up in a window that fills registers; other windows go four at once.
// CHECK-LABEL: func.func @vectors
// CHECK: tile.launch @spmv_places
// CHECK: tile.launch @spmv_nm
// CHECK: tile.launch @spmv_nm
// GPU-LABEL: func.func @vectors
// GPU-NOT: @spmv
func.func @vectors(%p: tensor<64x3x16xi8>, %v: tensor<64x3x16x1xf32>, %x: tensor<96xf32>, %y: tensor<64xf32>,
    %q: tensor<?x?x16xi8>, %u: tensor<?x?x16x1xf32>, %k: index, %z: tensor<?xf32>,
    %s: tensor<2x3x8xi8>, %t: tensor<2x3x8x32xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %w = sparse.assemble(%p, %v) : tensor<64x3x16xi8>, tensor<64x3x16x1xf32> -> tensor<64x96xf32, #sparse.nm<n = 16, m = 32>>
  %r = sparse.spmv %w, %x, %y : tensor<64x96xf32, #sparse.nm<n = 16, m = 32>>, tensor<96xf32>, tensor<64xf32>
  %o = sparse.assemble(%q, %u) sizes [%k] : tensor<?x?x16xi8>, tensor<?x?x16x1xf32> -> tensor<64x?xf32, #sparse.nm<n = 16, m = 32>>
  %a = sparse.spmv %o, %z, %y : tensor<64x?xf32, #sparse.nm<n = 16, m = 32>>, tensor<?xf32>, tensor<64xf32>
  %c = sparse.assemble(%s, %t) : tensor<2x3x8xi8>, tensor<2x3x8x32xf32> -> tensor<64x96xf32, #sparse.nm<n = 8, m = 32, vector = [32, 1]>>
  %b = sparse.spmv %c, %x, %y : tensor<64x96xf32, #sparse.nm<n = 8, m = 32, vector = [32, 1]>>, tensor<96xf32>, tensor<64xf32>
  return %r, %a, %b : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
