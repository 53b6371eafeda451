// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// A uniform reduction of a subgroup: redux.sync.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @reduce(%out: memref<32xi32>) kernel {
      %thread = gpu.thread_id x
      %value = arith.index_cast %thread : index to i32
      %sum = gpu.subgroup_reduce add %value uniform : (i32) -> (i32)
      memref.store %sum, %out[%thread] : memref<32xi32>
      gpu.return
    }
  }
  func.func private @printMemrefI32(memref<*xi32>)
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %out = memref.alloc() : memref<32xi32>
    gpu.launch_func @kernels::@reduce blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%out : memref<32xi32>)
    %all = memref.cast %out : memref<32xi32> to memref<*xi32>
    // CHECK: [496,{{( +496,)+}} 496]
    call @printMemrefI32(%all) : (memref<*xi32>) -> ()
    return
  }
}
