// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// Approximate reciprocals of powers of two.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %one = llvm.mlir.constant(1 : i32) : i32
      %p = llvm.shl %one, %t : i32
      %x = llvm.sitofp %p : i32 to f32
      %y = nvvm.rcp.approx.ftz.f %x : f32
      llvm.store %y, %slot : f32, !llvm.ptr<1>
      llvm.return
    }
  }
  func.func private @printMemrefF32(memref<*xf32>)
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 4 : index
    %out = memref.alloc() : memref<4xf32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%out : memref<4xf32>)
    %all = memref.cast %out : memref<4xf32> to memref<*xf32>
    // CHECK: [1,  0.5,  0.25,  0.125]
    call @printMemrefF32(%all) : (memref<*xf32>) -> ()
    return
  }
}
