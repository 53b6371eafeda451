// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// A wave reversed by ds_bpermute.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
      %t = rocdl.workitem.id.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %last = llvm.mlir.constant(63 : i32) : i32
      %two = llvm.mlir.constant(2 : i32) : i32
      %from = llvm.sub %last, %t : i32
      %at = llvm.shl %from, %two : i32
      %v = rocdl.ds_bpermute %at, %t : (i32, i32) -> i32
      llvm.store %v, %slot : i32, !llvm.ptr<1>
      llvm.return
    }
  }
  func.func private @printMemrefI32(memref<*xi32>)
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %out = memref.alloc() : memref<64xi32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%out : memref<64xi32>)
    %all = memref.cast %out : memref<64xi32> to memref<*xi32>
    // CHECK: [63,  62,  61,
    call @printMemrefI32(%all) : (memref<*xi32>) -> ()
    return
  }
}
