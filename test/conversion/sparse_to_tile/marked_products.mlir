// A product of two sparse matrices into a csr pattern: on CPUs by marks, row by row, without a sort; on GPUs, into other
// patterns and over other semirings entry by entry. Results: test/run/sparse/marked_products.test.
// RUN: %tile_opt %s --convert-sparse-to-tile=chip=x86-64-v4 | FileCheck %s
// RUN: %tile_opt %s --convert-sparse-to-tile=chip=sm_80 | FileCheck %s --check-prefix=GPU

!g = tensor<?x?xf32, #sparse.csr>
// CHECK-LABEL: func.func @rows
// CHECK-NOT: @sort_by_key
// CHECK: tile.launch @spgemm_marked
// CHECK: return
// GPU-LABEL: func.func @rows
// GPU: tile.launch @spgemm
// GPU-NOT: spgemm_marked
func.func @rows(%a: !g, %b: !g, %p: !g) -> !g {
  %r = sparse.spgemm %a, %b, %p : !g, !g, !g
  return %r : !g
}

// The columns of the second factor are stored: they are summed up, nothing is sorted, if the pattern is not larger than
// the first factor and the second one is finite.
// CHECK-LABEL: func.func @columns
// CHECK: arith.cmpi sle
// CHECK: scf.if
// CHECK: tile.launch @count_rows
// CHECK: scf.if
// CHECK-NOT: @sort_by_key
// CHECK: tile.launch @spgemm_dots
// CHECK: } else {
// CHECK: tile.launch @sort_by_key
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
