// N:M on GPUs by matrix instructions: 2 of 4 by the sparse one, where the kept elements stand packed when the program
// runs, or when it is compiled; lines that share what they keep by the dense one, on gathered rows.
// RUN: split-file %s %t
// RUN: %tile_opt %t/product.mlir --convert-sparse-to-tile=chip=sm_80 | FileCheck %s --check-prefix=RUNTIME
// RUN: %tile_opt %t/constant.mlir --convert-sparse-to-tile=chip=sm_80 | FileCheck %s --check-prefix=CONSTANT
// RUN: %tile_opt %t/others.mlir --convert-sparse-to-tile=chip=sm_80 | FileCheck %s --check-prefix=OTHERS
// RUN: %tile_opt %t/product.mlir --convert-sparse-to-tile=chip=x86-64-v4 | FileCheck %s --check-prefix=PLAIN
// RUN: %tile_opt %t/product.mlir --convert-sparse-to-tile=chip=gfx90a | FileCheck %s --check-prefix=PLAIN
// RUN: %tile_translate %t/constant.mlir --tile-to-ptx --chip=sm_80 | FileCheck %s --check-prefix=PTX
// RUN: %tile_translate %t/constant.mlir --tile-to-amdgcn --chip=gfx942 | FileCheck %s --check-prefix=GCN

// RUNTIME: tile.launch @pack_places
// RUNTIME: tile.launch @spmm_two_of_four
// RUNTIME: tile.mma_sparse
// PLAIN-NOT: tile.mma_sparse
// PLAIN: tile.launch @spmm_{{nm|windows}}
// Row 0: places 0, 3, then 1, 2; row 1: 2, 3, then 0, 1. The tile's other bytes: 0, 1, 0, 1.
// CONSTANT-NOT: @pack_places
// CONSTANT: arith.constant dense<{{\[\[}}-100, 68, 68, 68], [78, 68,
// CONSTANT: tile.launch @spmm_two_of_four
// PTX: mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32
// GCN: v_smfmac_f32_16x16x32_f16
// OTHERS-LABEL: func.func @shared
// OTHERS: tile.launch @spmm_shared_rows
// OTHERS-LABEL: func.func @singles
// OTHERS: tile.launch @spmm_nm
// OTHERS-LABEL: func.func @over
// OTHERS: tile.launch @spmm_nm
// OTHERS-LABEL: func.func @pairs
// OTHERS: tile.launch @spmm_nm

//--- product.mlir
!w = tensor<?x?xf16, #sparse.nm<n = 2, m = 4>>
func.func @main(%a: !w, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = sparse.spmm %a, %b, %c : !w, tensor<?x?xf16>, tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
//--- constant.mlir
!w = tensor<2x8xf16, #sparse.nm<n = 2, m = 4>>
func.func @main(%b: tensor<8x16xf16>, %c: tensor<2x16xf32>) -> tensor<2x16xf32> {
  %at = arith.constant dense<[[[0, 3], [1, 2]], [[2, 3], [0, 1]]]> : tensor<2x2x2xi8>
  %values = arith.constant dense<[[[[1.0], [2.0]], [[3.0], [4.0]]], [[[5.0], [6.0]], [[7.0], [8.0]]]]> : tensor<2x2x2x1xf16>
  %a = sparse.assemble(%at, %values) : tensor<2x2x2xi8>, tensor<2x2x2x1xf16> -> !w
  %r = sparse.spmm %a, %b, %c : !w, tensor<8x16xf16>, tensor<2x16xf32>
  return %r : tensor<2x16xf32>
}
//--- others.mlir
!shared = tensor<64x64xi8, #sparse.nm<n = 3, m = 32, vector = [16, 1]>>
!singles = tensor<64x64xf32, #sparse.nm<n = 2, m = 4>>
!halves = tensor<64x64xf16, #sparse.nm<n = 2, m = 4>>
!pairs = tensor<64x64xf16, #sparse.nm<n = 2, m = 8, vector = [2, 1]>>
func.func @shared(%a: !shared, %b: tensor<64x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %r = sparse.spmm %a, %b, %c : !shared, tensor<64x64xi8>, tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}
func.func @singles(%a: !singles, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = sparse.spmm %a, %b, %c : !singles, tensor<64x64xf32>, tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
func.func @over(%a: !halves, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = sparse.spmm %a, %b, %c over max_plus : !halves, tensor<64x64xf16>, tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
func.func @pairs(%a: !pairs, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = sparse.spmm %a, %b, %c : !pairs, tensor<64x64xf16>, tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
