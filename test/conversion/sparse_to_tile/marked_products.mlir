// A product of two sparse matrices into a csr pattern: on CPUs by sums of columns, or by marks, row by row; on GPUs, into
// other patterns and over other semirings entry by entry. Results: test/run/sparse/marked_products.test.
// RUN: %tile_opt %s --convert-sparse-to-tile=chip=x86-64-v4 | FileCheck %s
// RUN: %tile_opt %s --convert-sparse-to-tile=chip=sm_80 | FileCheck %s --check-prefix=GPU

!g = tensor<?x?xf32, #sparse.csr>
// Columns of the second factor are counted out if neither it nor the pattern is larger than the first factor and all are
// finite. The pattern is turned too: each entry costs the shorter one of its row and its column.
// CHECK-LABEL: func.func @rows
// CHECK-COUNT-2: arith.cmpi sle
// CHECK: scf.if
// CHECK-COUNT-2: tile.launch @count_rows
// CHECK: scf.if
// CHECK-COUNT-2: tile.launch @turn_lines
// CHECK-COUNT-2: tile.launch @spgemm_dots
// CHECK: } else {
// CHECK-NOT: tile.launch @turn_lines
// CHECK: tile.launch @spgemm_marked
// CHECK: return
// GPU-LABEL: func.func @rows
// GPU: tile.launch @spgemm
// GPU-NOT: spgemm_marked
func.func @rows(%a: !g, %b: !g, %p: !g) -> !g {
  %r = sparse.spgemm %a, %b, %p : !g, !g, !g
  return %r : !g
}

// The columns of the second factor are stored: only the pattern is turned.
// CHECK-LABEL: func.func @columns
// CHECK: arith.cmpi sle
// CHECK: scf.if
// CHECK: tile.launch @count_rows
// CHECK: scf.if
// CHECK: tile.launch @turn_lines
// CHECK-NOT: tile.launch @turn_lines
// CHECK: tile.launch @spgemm_dots
// CHECK: } else {
// CHECK: tile.launch @turn_lines
// CHECK: tile.launch @spgemm_marked
func.func @columns(%a: !g, %b: !g, %p: !g) -> !g {
  %r = sparse.spgemm %a, %b transpose, %p : !g, !g, !g
  return %r : !g
}

// CHECK-LABEL: func.func @others
// CHECK-NOT: spgemm_marked grid
// CHECK: return
func.func @others(%a: !g, %b: !g, %p: !g, %q: tensor<?x?xf32, #sparse.csc>) -> (!g, tensor<?x?xf32, #sparse.csc>) {
  %r = sparse.spgemm %a, %b, %p over max_plus : !g, !g, !g
  %s = sparse.spgemm %a, %b, %q : !g, !g, tensor<?x?xf32, #sparse.csc>
  return %r, %s : !g, tensor<?x?xf32, #sparse.csc>
}
