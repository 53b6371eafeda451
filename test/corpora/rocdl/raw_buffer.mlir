// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// A raw buffer: stores beyond its end do nothing.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
      %t = rocdl.workitem.id.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %v = llvm.mlir.constant(1.5 : f32) : f32
      %stride = llvm.mlir.constant(0 : i16) : i16
      %bytes = llvm.mlir.constant(16 : i64) : i64
      %flags = llvm.mlir.constant(159744 : i32) : i32
      %zero = llvm.mlir.constant(0 : i32) : i32
      %far = llvm.mlir.constant(64 : i32) : i32
      %two = llvm.mlir.constant(2 : i32) : i32
      %offset = llvm.shl %t, %two : i32
      %rsrc = rocdl.make.buffer.rsrc %out, %stride, %bytes, %flags : !llvm.ptr<1> to !llvm.ptr<8>
      rocdl.raw.ptr.buffer.store %v, %rsrc, %offset, %zero, %zero : f32
      rocdl.raw.ptr.buffer.store %v, %rsrc, %far, %zero, %zero : f32
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
    // CHECK: [1.5,  1.5,  1.5,  1.5]
    call @printMemrefF32(%all) : (memref<*xf32>) -> ()
    return
  }
}
