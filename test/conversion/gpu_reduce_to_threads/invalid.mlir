// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(convert-gpu-reduce-to-threads))' -verify-diagnostics

gpu.module @kernels {
  gpu.func @blocks(%x: i32, %out: memref<i32>) kernel {
    // expected-error @+1 {{has a body of several blocks, expected one}}
    %r = gpu.all_reduce %x uniform {
    ^bb(%a: i32, %b: i32):
      cf.br ^next
    ^next:
      "gpu.yield"(%a) : (i32) -> ()
    } : (i32) -> (i32)
    memref.store %r, %out[] : memref<i32>
    gpu.return
  }
}
