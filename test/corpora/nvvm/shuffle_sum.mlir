// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// A warp's sum by butterflies.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %all = llvm.mlir.constant(-1 : i32) : i32
      %clamp = llvm.mlir.constant(31 : i32) : i32
      %c16 = llvm.mlir.constant(16 : i32) : i32
      %c8 = llvm.mlir.constant(8 : i32) : i32
      %c4 = llvm.mlir.constant(4 : i32) : i32
      %c2 = llvm.mlir.constant(2 : i32) : i32
      %c1 = llvm.mlir.constant(1 : i32) : i32
      %a0 = nvvm.shfl.sync bfly %all, %t, %c16, %clamp : i32 -> i32
      %b0 = llvm.add %t, %a0 : i32
      %a1 = nvvm.shfl.sync bfly %all, %b0, %c8, %clamp : i32 -> i32
      %b1 = llvm.add %b0, %a1 : i32
      %a2 = nvvm.shfl.sync bfly %all, %b1, %c4, %clamp : i32 -> i32
      %b2 = llvm.add %b1, %a2 : i32
      %a3 = nvvm.shfl.sync bfly %all, %b2, %c2, %clamp : i32 -> i32
      %b3 = llvm.add %b2, %a3 : i32
      %a4 = nvvm.shfl.sync bfly %all, %b3, %c1, %clamp : i32 -> i32
      %b4 = llvm.add %b3, %a4 : i32
      llvm.store %b4, %slot : i32, !llvm.ptr<1>
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
    // CHECK: [496,{{( +496,)+}} 496]
    call @printMemrefI32(%all) : (memref<*xi32>) -> ()
    return
  }
}
