// Sparse tensors become components in functions, calls and loops; ops become kernels, equal ones one.
// RUN: %tile_opt %s --convert-sparse-to-tile=chip=x86-64-v4 | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(convert-sparse-to-tile{chip=x86-64-v4})' | FileCheck %s
// RUN: %tile_opt %s --convert-sparse-to-tile=chip=x86-64-v4 | not grep '#sparse'

#nm = #sparse.nm<n = 3, m = 32, vector = [16, 1]>

// The open size follows the components; the one that the type knows does not.
// CHECK-LABEL: func.func private @callee(tensor<?xi32>, tensor<?xi32>, tensor<?xf16>, index) -> (tensor<9xi32>, tensor<?xi32>, tensor<?xf16>, index)
func.func private @callee(tensor<?x8xf16, #sparse.csr>) -> tensor<?x8xf16, #sparse.csc>

// CHECK-LABEL: func.func @passes(
// CHECK-SAME: %[[P:.*]]: tensor<?xi32>, %[[C:.*]]: tensor<?xi32>, %[[V:.*]]: tensor<?xf16>, %[[M:[a-z0-9]*]]: index
// CHECK: %[[R:.*]]:4 = scf.for {{.*}} iter_args(%{{.*}} = %[[P]], %{{.*}} = %[[C]], %{{.*}} = %[[V]], %{{.*}} = %[[M]])
func.func @passes(%a: tensor<?x8xf16, #sparse.csr>, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%it = %a) -> (tensor<?x8xf16, #sparse.csr>) {
    %t = func.call @callee(%it) : (tensor<?x8xf16, #sparse.csr>) -> tensor<?x8xf16, #sparse.csc>
    scf.yield %it : tensor<?x8xf16, #sparse.csr>
  }
  // CHECK: return %[[R]]#3 : index
  %m = tensor.dim %r, %c0 : tensor<?x8xf16, #sparse.csr>
  return %m : index
}

// A component of another static shape is cast; both products share a kernel, in which 16 lines share coordinates.
// CHECK-LABEL: func.func @multiplies(
// CHECK-SAME: %[[C:.*]]: tensor<?x4x3xi8>, %[[V:.*]]: tensor<2x4x3x16xf32>
// CHECK-DAG: %[[CAST:.*]] = tensor.cast %[[C]] : tensor<?x4x3xi8> to tensor<2x4x3xi8>
// CHECK: tile.launch @spmm_nm grid(%{{.*}}, %{{.*}}) ins(%[[CAST]], %[[V]], %{{.*}} : tensor<2x4x3xi8>, tensor<2x4x3x16xf32>, tensor<128x48xf32>)
// CHECK: tile.launch @spmm_nm grid
func.func @multiplies(%c: tensor<?x4x3xi8>, %v: tensor<2x4x3x16xf32>, %x: tensor<128x48xf32>, %y: tensor<30x48xf32>)
    -> (tensor<30x48xf32>, tensor<30x48xf32>) {
  %w = sparse.assemble(%c, %v) : tensor<?x4x3xi8>, tensor<2x4x3x16xf32> -> tensor<30x128xf32, #nm>
  %r = sparse.spmm %w, %x, %y : tensor<30x128xf32, #nm>, tensor<128x48xf32>, tensor<30x48xf32>
  %s = sparse.spmm %w, %x, %r : tensor<30x128xf32, #nm>, tensor<128x48xf32>, tensor<30x48xf32>
  return %r, %s : tensor<30x48xf32>, tensor<30x48xf32>
}

// A dense factor on the left: the product of the transposed ones, transposed.
// CHECK-LABEL: func.func @from_the_left(
// CHECK-COUNT-2: linalg.transpose
// CHECK: tile.launch @spmm_csr
// CHECK: linalg.transpose
func.func @from_the_left(%p: tensor<9xi32>, %c: tensor<?xi32>, %v: tensor<?xf16>, %x: tensor<3x5xf16>, %y: tensor<3x8xf32>)
    -> tensor<3x8xf32> {
  %w = sparse.assemble(%p, %c, %v) : tensor<9xi32>, tensor<?xi32>, tensor<?xf16> -> tensor<8x5xf16, #sparse.csr>
  %r = sparse.spmm %x, %w transpose, %y : tensor<3x5xf16>, tensor<8x5xf16, #sparse.csr>, tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}

// csr of a matrix is csc of its transpose: nothing is launched.
// CHECK-LABEL: func.func @turns(
// CHECK-NOT: tile.launch
// CHECK: return
func.func @turns(%a: tensor<?x8xf32, #sparse.csr>) -> tensor<8x?xf32, #sparse.csc> {
  %t = sparse.transpose %a : tensor<?x8xf32, #sparse.csr> -> tensor<8x?xf32, #sparse.csc>
  return %t : tensor<8x?xf32, #sparse.csc>
}

// Lines of the other axis are counted out of lines, without a list of entries, and sorted out of a list, where only an
// unordered one may repeat a place.
// CHECK-LABEL: func.func @columns(
// CHECK-NOT: tile.launch @places_csr
// CHECK: tile.launch @turn_lines
// CHECK-NOT: tile.launch @sort_by_key
// CHECK-NOT: tile.launch @merge_places
// CHECK: tile.launch @spmm_csr
func.func @columns(%a: tensor<?x8xf32, #sparse.csr>, %x: tensor<?xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = sparse.spmv %a transpose, %x, %y : tensor<?x8xf32, #sparse.csr>, tensor<?xf32>, tensor<8xf32>
  return %r : tensor<8xf32>
}
// CHECK-LABEL: func.func @unordered(
// CHECK-COUNT-2: tile.launch @sort_by_key
// CHECK: tile.launch @merge_places
// CHECK: tile.launch @mark_blocks
// CHECK: tile.launch @fill_blocks
func.func @unordered(%a: tensor<9x8xf32, #sparse.coo<unordered>>) -> tensor<9x8xf32, #sparse.bsr<block = [4, 4]>> {
  %b = sparse.convert %a : tensor<9x8xf32, #sparse.coo<unordered>> -> tensor<9x8xf32, #sparse.bsr<block = [4, 4]>>
  return %b : tensor<9x8xf32, #sparse.bsr<block = [4, 4]>>
}

// Blocks are turned where more than one tile of columns reads them, and only there.
// CHECK-LABEL: func.func @blocks(
// CHECK: %[[T:.*]] = tile.launch @turn_blocks {{.*}} ins(%[[V:.*]] : tensor<?x4x2xf32>) {{.*}} -> tensor<?x2x4xf32>
// CHECK: tile.launch @spmm_bsr {{.*}} ins(%{{.*}}, %{{.*}}, %[[T]], %{{.*}}
// CHECK-NOT: tile.launch @turn_blocks
// CHECK: tile.launch @spmm_bsr{{.*}} ins(%{{.*}}, %{{.*}}, %[[V]], %{{.*}}
func.func @blocks(%a: tensor<9x8xf32, #sparse.bsr<block = [4, 2]>>, %x: tensor<8x96xf32>, %y: tensor<9x96xf32>,
                  %v: tensor<8xf32>, %w: tensor<9xf32>) -> (tensor<9x96xf32>, tensor<9xf32>) {
  %r = sparse.spmm %a, %x, %y : tensor<9x8xf32, #sparse.bsr<block = [4, 2]>>, tensor<8x96xf32>, tensor<9x96xf32>
  %s = sparse.spmv %a, %v, %w : tensor<9x8xf32, #sparse.bsr<block = [4, 2]>>, tensor<8xf32>, tensor<9xf32>
  return %r, %s : tensor<9x96xf32>, tensor<9xf32>
}

// 64 columns are two tiles of 32 rather than two of 48.
// CHECK-LABEL: func.func @narrow(
// CHECK: tile.launch @[[NARROW:spmm_nm_[0-9]+]] grid
func.func @narrow(%a: tensor<32x32xf32, #nm>, %x: tensor<32x64xf32>, %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %r = sparse.spmm %a, %x, %y : tensor<32x32xf32, #nm>, tensor<32x64xf32>, tensor<32x64xf32>
  return %r : tensor<32x64xf32>
}

// A sum's product is one product for each part, the next on top of the one before; a mean is of all entries.
// CHECK-LABEL: func.func @sum(
// CHECK: %[[FIRST:.*]] = tile.launch @spmm_bsr{{.*}} ins(%arg0, %arg1, %arg2
// CHECK: tile.launch @spmm_csr{{.*}} ins(%arg3, %arg4, %arg5, {{.*}} outs(%[[FIRST]]
// CHECK: tensor.insert_slice
// CHECK: tile.launch @spmm_mean
func.func @sum(%a: tensor<9x8xf32, #sparse.sum<parts = [#sparse.bsr<block = [3, 2]>, #sparse.csr]>>, %v: tensor<8xf32>, %w: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %r = sparse.spmv %a, %v, %w : tensor<9x8xf32, #sparse.sum<parts = [#sparse.bsr<block = [3, 2]>, #sparse.csr]>>, tensor<8xf32>, tensor<9xf32>
  %s = sparse.spmv %a, %v, %w over mean_mul : tensor<9x8xf32, #sparse.sum<parts = [#sparse.bsr<block = [3, 2]>, #sparse.csr]>>, tensor<8xf32>, tensor<9xf32>
  return %r, %s : tensor<9xf32>, tensor<9xf32>
}

// A module without sparse tensors stays as it is.
// CHECK-LABEL: func.func @dense(%{{.*}}: tensor<4xf32, "foreign">)
func.func @dense(%x: tensor<4xf32, "foreign">) { return }

// CHECK: tile.kernel private @spmm_nm(%{{.*}}: memref<?x?x3xi8>, %{{.*}}: memref<?x?x3x16xf32>, %{{.*}}: memref<?x?xf32>, %{{.*}}: memref<?x?xf32>)
// CHECK: math.fma %{{.*}} : tensor<8x48xf32>
// CHECK-NOT: tile.kernel private @spmm_nm
// CHECK: tile.kernel private @spmm_csr(
// CHECK: arith.extf %{{.*}} : tensor<3xf16> to tensor<3xf32>
// CHECK: tile.kernel private @[[NARROW]](
// CHECK: math.fma %{{.*}} : tensor<8x32xf32>
