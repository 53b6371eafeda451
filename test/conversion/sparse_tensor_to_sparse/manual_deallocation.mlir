// Buffers that upstream's loops free themselves (of a product of two sparse tensors) are marked as such, with their
// allocations: the pass that frees buffers refuses others' deallocations.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(convert-sparse-tensor-to-sparse,func.func(tile-keep-own-frees))' 2>/dev/null | FileCheck %s
// RUN: %tile_opt %s --tile-to-cpu-pipeline 2>/dev/null | FileCheck %s --check-prefix=LOWERED
// CHECK: %[[A:.*]] = memref.alloc() {bufferization.manual_deallocation} : memref<2xf64>
// CHECK: memref.dealloc %[[A]] {bufferization.manual_deallocation}
// LOWERED: llvm.func @main
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
// A file is read by upstream's way, and all of its function with it.
func.func @main(%d: tensor<4x3xf64>, %b: tensor<3x2xf64>, %p: !llvm.ptr) {
  %f = sparse_tensor.new %p : !llvm.ptr to tensor<4x3xf64, #CSR>
  sparse_tensor.print %f : tensor<4x3xf64, #CSR>
  %csr = sparse_tensor.convert %d : tensor<4x3xf64> to tensor<4x3xf64, #CSR>
  %bs = sparse_tensor.convert %b : tensor<3x2xf64> to tensor<3x2xf64, #CSR>
  %e = tensor.empty() : tensor<4x2xf64, #CSR>
  %q = linalg.matmul ins(%csr, %bs : tensor<4x3xf64, #CSR>, tensor<3x2xf64, #CSR>) outs(%e : tensor<4x2xf64, #CSR>) -> tensor<4x2xf64, #CSR>
  sparse_tensor.print %q : tensor<4x2xf64, #CSR>
  return
}
