// RUN: tile-run %s --target=emulate:sm_90a | FileCheck %s
// One lane of a warp acts.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %p = nvvm.elect.sync -> i1
      %v = llvm.mlir.constant(77 : i32) : i32
      llvm.cond_br %p, ^act, ^end
    ^act:
      llvm.store %v, %out : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
      llvm.return
    }
  }
  func.func private @printMemrefI32(memref<*xi32>)
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %out = memref.alloc() : memref<1xi32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%out : memref<1xi32>)
    %all = memref.cast %out : memref<1xi32> to memref<*xi32>
    // CHECK: [77]
    call @printMemrefI32(%all) : (memref<*xi32>) -> ()
    return
  }
}
