// RUN: tile-run %s --target=emulate:gfx1100 | FileCheck %s
// A product of ones: wmma 16x16x16.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
      %t = rocdl.workitem.id.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %one = llvm.mlir.constant(dense<1.0> : vector<16xf16>) : vector<16xf16>
      %zero = llvm.mlir.constant(dense<0.0> : vector<8xf32>) : vector<8xf32>
      %d = rocdl.wmma.f32.16x16x16.f16 %one, %one, %zero : (vector<16xf16>, vector<16xf16>, vector<8xf32>) -> vector<8xf32>
      %eight = llvm.mlir.constant(8 : i32) : i32
      %at = llvm.mul %t, %eight : i32
      %p = llvm.getelementptr %out[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %d, %p {alignment = 16 : i64} : vector<8xf32>, !llvm.ptr<1>
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
