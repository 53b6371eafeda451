// RUN: %tile_opt %s --split-input-file --convert-sparse-to-tile=chip=x86-64-v4 --verify-diagnostics | FileCheck %s
// RUN: %tile_opt %s --split-input-file --convert-sparse-to-tile=chip=sm_80 --verify-diagnostics | FileCheck %s --check-prefix=GPU
// Lines that are stored as such are weighed in one launch, a vector or a warp at a time; others are found by number.
// CHECK: !tile.view<16xf32, steps = [1]>
// CHECK-LABEL: func.func @rows
// CHECK: tile.launch @softmax_lines
// CHECK-NOT: tile.launch
// CHECK: return
// GPU: !tile.view<32xf32, steps = [1]>
func.func @rows(%a: tensor<?x?xf32, #sparse.csr>) -> tensor<?x?xf32, #sparse.csr> {
  %w = sparse.softmax %a along 1 : tensor<?x?xf32, #sparse.csr>
  return %w : tensor<?x?xf32, #sparse.csr>
}

// -----

// CHECK-LABEL: func.func @columns
// CHECK: tile.launch @turn_lines
// CHECK: tile.launch @softmax_places
// CHECK-NOT: tile.launch
// CHECK: return
func.func @columns(%a: tensor<?x?xf16, #sparse.csr>) -> tensor<?x?xf16, #sparse.csr> {
  %w = sparse.softmax %a along 0 : tensor<?x?xf16, #sparse.csr>
  return %w : tensor<?x?xf16, #sparse.csr>
}

// -----

func.func @narrow(%a: tensor<?x?xf8E4M3FN, #sparse.csr>) -> tensor<?x?xf8E4M3FN, #sparse.csr> {
  // expected-error@+1 {{is not lowered yet for floats narrower than 16 bits}}
  %w = sparse.softmax %a along 1 : tensor<?x?xf8E4M3FN, #sparse.csr>
  return %w : tensor<?x?xf8E4M3FN, #sparse.csr>
}
