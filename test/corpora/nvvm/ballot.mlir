// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// A ballot over the even lanes.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %all = llvm.mlir.constant(-1 : i32) : i32
      %one = llvm.mlir.constant(1 : i32) : i32
      %zero = llvm.mlir.constant(0 : i32) : i32
      %odd = llvm.and %t, %one : i32
      %even = llvm.icmp "eq" %odd, %zero : i32
      %votes = nvvm.vote.sync ballot %all, %even -> i32
      llvm.store %votes, %slot : i32, !llvm.ptr<1>
      llvm.return
    }
  }
  func.func private @printMemrefI32(memref<*xi32>)
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %out = memref.alloc() : memref<32xi32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%out : memref<32xi32>)
    %all = memref.cast %out : memref<32xi32> to memref<*xi32>
    // CHECK: [1431655765,{{( +1431655765,)+}} 1431655765]
    call @printMemrefI32(%all) : (memref<*xi32>) -> ()
    return
  }
}
