// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// Lanes counted by a ballot of all.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
      %t = rocdl.workitem.id.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %yes = llvm.mlir.constant(1 : i1) : i1
      %all = rocdl.ballot %yes : i64
      %n = llvm.intr.ctpop(%all) : (i64) -> i64
      %w = llvm.trunc %n : i64 to i32
      %f = rocdl.readfirstlane %w : i32
      llvm.store %f, %slot : i32, !llvm.ptr<1>
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
    // CHECK: [64,  64,  64,
    call @printMemrefI32(%all) : (memref<*xi32>) -> ()
    return
  }
}
