// RUN: tile-run %s --target=emulate:sm_80
// RUN: tile-run %s --target=emulate:gfx942
// RUN: tile-run %s --target=cpu
// A program that registers memory and launches nothing runs; there is no kernel that could have been forgotten.
module attributes {gpu.container_module} {
  func.func @main() {
    %memory = memref.alloc() : memref<64x64xf32>
    %all = memref.cast %memory : memref<64x64xf32> to memref<*xf32>
    gpu.host_register %all : memref<*xf32>
    memref.dealloc %memory : memref<64x64xf32>
    return
  }
}
