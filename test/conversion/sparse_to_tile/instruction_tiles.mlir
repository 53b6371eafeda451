// The tile of a sparse product by matrix instructions is decided by tile-construct-tiles, as that of the dense product.
// convert-sparse-to-tile obeys; without a schedule it takes one instruction's tile.
// RUN: split-file %s %t
// RUN: %tile_opt %t/product.mlir --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=sm_80 ops=sparse}))' --tile-pass-statistics 2>&1 | FileCheck %s --check-prefix=DECIDED
// RUN: %tile_opt %t/product.mlir --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4 ops=sparse}))' | FileCheck %s --check-prefix=CPU
// RUN: %tile_opt %t/product.mlir --convert-sparse-to-tile=chip=sm_80 | FileCheck %s --check-prefix=PLAIN
// RUN: %tile_opt %t/mine.mlir --convert-sparse-to-tile=chip=sm_80 | FileCheck %s --check-prefix=MINE
// RUN: %tile_opt %t/low.mlir --convert-sparse-to-tile=chip=sm_80 | FileCheck %s --check-prefix=LOW
// RUN: not %tile_opt %t/sizes.mlir --convert-sparse-to-tile=chip=sm_80 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: not %tile_opt %t/odd.mlir --convert-sparse-to-tile=chip=sm_80 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not %tile_opt %t/product.mlir --pass-pipeline='builtin.module(func.func(tile-construct-tiles{ops=some}))' 2>&1 | FileCheck %s --check-prefix=OPS

// DECIDED: #[[schedule:.*]] = #tile.schedule<block = [{{64|128|256}}, {{64|128|256}}, {{32|64|128}}]>
// DECIDED: sparse.spmm {{.*}}tile.schedule = #[[schedule]]
// DECIDED: tile-construct-tiles: 1 asked
// CPU-NOT: tile.schedule
// PLAIN: tile.mma_sparse {{.*}}16x
// MINE: !tile.view<32x64xf32
// LOW: !tile.view<16x64xf32
// SIZES: error: 'sparse.spmm' op schedule: `block` has 2 sizes; expected three: rows, columns and depth
// ODD: error: 'sparse.spmm' op schedule: `block` takes 24 of dimension 0; expected a power of two
// OPS: error: {{.*}}ops: unknown 'some'; it takes all, products or sparse

//--- product.mlir
!w = tensor<4096x4096xf16, #sparse.nm<n = 2, m = 4>>
func.func @main(%a: !w, %b: tensor<4096x1024xf16>, %c: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %r = sparse.spmm %a, %b, %c : !w, tensor<4096x1024xf16>, tensor<4096x1024xf32>
  return %r : tensor<4096x1024xf32>
}
//--- mine.mlir
!w = tensor<4096x4096xf16, #sparse.nm<n = 2, m = 4>>
func.func @main(%a: !w, %b: tensor<4096x1024xf16>, %c: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %r = sparse.spmm %a, %b, %c {tile.schedule = #tile.schedule<block = [32, 64, 32]>} : !w, tensor<4096x1024xf16>, tensor<4096x1024xf32>
  return %r : tensor<4096x1024xf32>
}
//--- low.mlir
// A block lower than one instruction takes the instruction's rows.
!w = tensor<4096x4096xf16, #sparse.nm<n = 8, m = 32, vector = [32, 1]>>
func.func @main(%a: !w, %b: tensor<4096x1024xf16>, %c: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %r = sparse.spmm %a, %b, %c {tile.schedule = #tile.schedule<block = [8, 64, 32]>} : !w, tensor<4096x1024xf16>, tensor<4096x1024xf32>
  return %r : tensor<4096x1024xf32>
}
//--- sizes.mlir
!w = tensor<4096x4096xf16, #sparse.nm<n = 2, m = 4>>
func.func @main(%a: !w, %b: tensor<4096x1024xf16>, %c: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %r = sparse.spmm %a, %b, %c {tile.schedule = #tile.schedule<block = [32, 64]>} : !w, tensor<4096x1024xf16>, tensor<4096x1024xf32>
  return %r : tensor<4096x1024xf32>
}
//--- odd.mlir
!w = tensor<4096x4096xf16, #sparse.nm<n = 2, m = 4>>
func.func @main(%a: !w, %b: tensor<4096x1024xf16>, %c: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %r = sparse.spmm %a, %b, %c {tile.schedule = #tile.schedule<block = [24, 64, 32]>} : !w, tensor<4096x1024xf16>, tensor<4096x1024xf32>
  return %r : tensor<4096x1024xf32>
}
