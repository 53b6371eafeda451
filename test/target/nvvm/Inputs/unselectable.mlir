gpu.module @kernels {
  llvm.func @k(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %a = llvm.mlir.constant(0 : i32) : i32
    llvm.call_intrinsic "llvm.nvvm.tcgen05.wait.ld"() : () -> ()
    llvm.return
  }
}
