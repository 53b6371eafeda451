// A plugin's op in a kernel. The pipeline for a GPU expands the op before barriers are planned: one stands between the
// read of all threads and the write of one, and another before what reads the write. On every target the expanded
// program computes what its definition says.
// RUN: %tile_opt --load-dialect-plugin=%unit/probe_dialect.so %s --pass-pipeline='builtin.module(tile-to-nvvm-pipeline{chip=sm_80})' | FileCheck %s
// RUN: %tile_opt --load-dialect-plugin=%unit/probe_dialect.so %s --tile-to-cpu-pipeline | FileCheck %s --check-prefix=CPU
// RUN: %tile_opt --load-dialect-plugin=%unit/probe_dialect.so %s --tile-expand-ops -o %t.mlir
// RUN: %tile_run %t.mlir --target=cpu --target=emulate:sm_80 --check-against=interpret

// CHECK: llvm.load
// CHECK: nvvm.barrier0
// CHECK: llvm.store
// CHECK: nvvm.barrier0
// CHECK: llvm.load
// CPU-NOT: probe.bump
tile.kernel @bump(%x: memref<128xi32>, %y: memref<128xi32> {llvm.noalias}) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : i32
  %X = tile.view %x : memref<128xi32> to !tile.view<128xi32>
  %Y = tile.view %y : memref<128xi32> to !tile.view<128xi32>
  %old = probe.bump %c7, %x : i32, memref<128xi32>
  %b = tile.load %X[%c0] : !tile.view<128xi32> -> tensor<128xi32>
  %t = tile.broadcast %old axes [] : i32 -> tensor<128xi32>
  %s = arith.muli %b, %t : tensor<128xi32>
  tile.store %s, %Y[%c0] : tensor<128xi32>, !tile.view<128xi32>
  tile.return
}

func.func @main(%x: memref<128xi32>, %y: memref<128xi32>) {
  %c1 = arith.constant 1 : index
  tile.launch @bump grid(%c1) outs(%x, %y : memref<128xi32>, memref<128xi32>)
  return
}
