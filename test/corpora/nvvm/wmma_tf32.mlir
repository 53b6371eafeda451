// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// A product of tf32: wmma m16n16k8 of twos and ones.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %bits = llvm.mlir.constant(1073741824 : i32) : i32
      %ones = llvm.mlir.constant(1065353216 : i32) : i32
      %zero = llvm.mlir.constant(0.0 : f32) : f32
      %n = llvm.mlir.constant(16 : i32) : i32
      %d = nvvm.wmma.mma %bits, %bits, %bits, %bits, %ones, %ones, %ones, %ones, %zero, %zero, %zero, %zero, %zero, %zero, %zero, %zero {eltypeA = #nvvm.mma_type<tf32>, eltypeB = #nvvm.mma_type<f32>, k = 8 : i32, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<row>, m = 16 : i32, n = 16 : i32} : (i32, i32, i32, i32, i32, i32, i32, i32, f32, f32, f32, f32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
      %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
      nvvm.wmma.store %out, %n, %d0, %d0, %d0, %d0, %d0, %d0, %d0, %d0 {eltype = #nvvm.mma_type<f32>, k = 8 : i32, layout = #nvvm.mma_layout<row>, m = 16 : i32, n = 16 : i32} : !llvm.ptr<1>, f32, f32, f32, f32, f32, f32, f32, f32
      llvm.return
    }
  }
  func.func private @printMemrefF32(memref<*xf32>)
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %out = memref.alloc() : memref<256xf32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%out : memref<256xf32>)
    %all = memref.cast %out : memref<256xf32> to memref<*xf32>
    // CHECK: [16,{{( +16,)+}} 16]
    call @printMemrefF32(%all) : (memref<*xf32>) -> ()
    return
  }
}
