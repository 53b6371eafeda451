// RUN: not tile-run %s --target=emulate:sm_90a 2>&1 | FileCheck %s
// What the emulator does not know is named at its place, all of it before anything runs.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      // CHECK: unknown.mlir:[[@LINE+1]]:12: error: 'nvvm.inline_ptx' op is not known to the emulator
      %x = nvvm.inline_ptx "mov.u32 $0, %tid.x;" -> i32
      llvm.store %x, %out : i32, !llvm.ptr<1>
      // CHECK: unknown.mlir:[[@LINE+1]]:7: error: 'nvvm.exit' op is not known to the emulator
      nvvm.exit
      llvm.return
    }
  }
  func.func @main(%out: memref<1xi32>) {
    %one = arith.constant 1 : index
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%out : memref<1xi32>)
    return
  }
}
