// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// A product of ones: mma.sync m16n8k16.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %one = llvm.mlir.constant(dense<1.0> : vector<2xf16>) : vector<2xf16>
      %zero = llvm.mlir.constant(0.0 : f32) : f32
      %d = nvvm.mma.sync A[%one, %one, %one, %one] B[%one, %one] C[%zero, %zero, %zero, %zero] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
      %four = llvm.mlir.constant(4 : i32) : i32
      %at = llvm.mul %t, %four : i32
      %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
      %d1 = llvm.extractvalue %d[1] : !llvm.struct<(f32, f32, f32, f32)>
      %d2 = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>
      %d3 = llvm.extractvalue %d[3] : !llvm.struct<(f32, f32, f32, f32)>
      %p0 = llvm.getelementptr %out[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %p1 = llvm.getelementptr %p0[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      %p2 = llvm.getelementptr %p0[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      %p3 = llvm.getelementptr %p0[3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %d0, %p0 : f32, !llvm.ptr<1>
      llvm.store %d1, %p1 : f32, !llvm.ptr<1>
      llvm.store %d2, %p2 : f32, !llvm.ptr<1>
      llvm.store %d3, %p3 : f32, !llvm.ptr<1>
      llvm.return
    }
  }
  func.func private @printMemrefF32(memref<*xf32>)
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %out = memref.alloc() : memref<128xf32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%out : memref<128xf32>)
    %all = memref.cast %out : memref<128xf32> to memref<*xf32>
    // CHECK: [16,{{( +16,)+}} 16]
    call @printMemrefF32(%all) : (memref<*xf32>) -> ()
    return
  }
}
