// How a csr product is shared among programs: by the option, by a model of constant row lengths and the machine's cores, or
// by what comes at run time.
// RUN: %tile_opt %s --convert-sparse-to-tile | FileCheck %s --check-prefixes=CHECK,MODEL
// RUN: %tile_opt %s --convert-sparse-to-tile=split=rows | FileCheck %s --check-prefix=ROWS
// RUN: %tile_opt %s --convert-sparse-to-tile=split=entries | FileCheck %s --check-prefix=ENTRIES
// RUN: %tile_opt %s --convert-sparse-to-tile=split=run-time | FileCheck %s --check-prefixes=CHECK,LATE
// RUN: not %tile_opt %s --convert-sparse-to-tile=split=columns 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: {{.*}}split is 'columns', expected rows, entries, model or run-time
// ROWS-NOT: @spmm_entries
// ENTRIES-COUNT-4: tile.launch @spmm_entries
module attributes {tile.machine = #tile.machine<"x86-64-v4", cores = 2>} {
  // One row has nearly all entries; in a matrix as small as the last one that is the same to everybody.
  // CHECK-LABEL: func.func @skewed(
  // CHECK: tile.launch @spmm_entries
  // CHECK: tile.launch @add_carries
  // CHECK: return
  func.func @skewed(%i: tensor<100001xi32>, %v: tensor<100001xf32>, %x: tensor<100000x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %p = arith.constant dense<[0, 100000, 100001]> : tensor<3xi32>
    %a = sparse.assemble(%p, %i, %v) : tensor<3xi32>, tensor<100001xi32>, tensor<100001xf32> -> tensor<2x100000xf32, #sparse.csr>
    %r = sparse.spmm %a, %x, %y : tensor<2x100000xf32, #sparse.csr>, tensor<100000x4xf32>, tensor<2x4xf32>
    return %r : tensor<2x4xf32>
  }
  // CHECK-LABEL: func.func @even(
  // CHECK: tile.launch @spmm_csr
  // CHECK: return
  func.func @even(%i: tensor<?xi32>, %v: tensor<?xf32>, %x: tensor<50000x4xf32>, %y: tensor<11x4xf32>) -> tensor<11x4xf32> {
    %p = arith.constant dense<[0, 50000, 100000, 150000, 200000, 250000, 300000, 350000, 400000, 450000, 500000, 550000]> : tensor<12xi32>
    %a = sparse.assemble(%p, %i, %v) : tensor<12xi32>, tensor<?xi32>, tensor<?xf32> -> tensor<11x50000xf32, #sparse.csr>
    %r = sparse.spmm %a, %x, %y : tensor<11x50000xf32, #sparse.csr>, tensor<50000x4xf32>, tensor<11x4xf32>
    return %r : tensor<11x4xf32>
  }
  // CHECK-LABEL: func.func @small(
  // CHECK: tile.launch @spmm_csr
  // CHECK: return
  func.func @small(%i: tensor<?xi32>, %v: tensor<?xf32>, %x: tensor<9x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %p = arith.constant dense<[0, 9, 9]> : tensor<3xi64>
    %a = sparse.assemble(%p, %i, %v) : tensor<3xi64>, tensor<?xi32>, tensor<?xf32> -> tensor<2x9xf32, #sparse.csr<positions = i64>>
    %r = sparse.spmm %a, %x, %y : tensor<2x9xf32, #sparse.csr<positions = i64>>, tensor<9x4xf32>, tensor<2x4xf32>
    return %r : tensor<2x4xf32>
  }
  // CHECK-LABEL: func.func @unknown(
  // MODEL: tile.launch @spmm_csr
  // LATE: tile.launch @longest_line
  // LATE: scf.if
  // LATE: tile.launch @spmm_entries
  // LATE: } else {
  // LATE: tile.launch @spmm_csr
  // CHECK: return
  func.func @unknown(%p: tensor<10xi64>, %i: tensor<?xi32>, %v: tensor<?xf32>, %x: tensor<9x4xf32>, %y: tensor<9x4xf32>) -> tensor<9x4xf32> {
    %a = sparse.assemble(%p, %i, %v) : tensor<10xi64>, tensor<?xi32>, tensor<?xf32> -> tensor<9x9xf32, #sparse.csr<positions = i64>>
    %r = sparse.spmm %a, %x, %y : tensor<9x9xf32, #sparse.csr<positions = i64>>, tensor<9x4xf32>, tensor<9x4xf32>
    return %r : tensor<9x4xf32>
  }
  // The largest of sums has no carry.
  // CHECK-LABEL: func.func @largest(
  // CHECK: tile.launch @spmm_csr
  func.func @largest(%p: tensor<10xi32>, %i: tensor<?xi32>, %v: tensor<?xf32>, %x: tensor<9x4xf32>, %y: tensor<9x4xf32>) -> tensor<9x4xf32> {
    %a = sparse.assemble(%p, %i, %v) : tensor<10xi32>, tensor<?xi32>, tensor<?xf32> -> tensor<9x9xf32, #sparse.csr>
    %r = sparse.spmm %a, %x, %y over max_plus : tensor<9x9xf32, #sparse.csr>, tensor<9x4xf32>, tensor<9x4xf32>
    return %r : tensor<9x4xf32>
  }
}
