// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// Threads exchange values through shared memory, with a barrier.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global internal @s() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8 x i32>
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %seven = llvm.mlir.constant(7 : i32) : i32
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %mine = llvm.getelementptr %s[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<8 x i32>
      llvm.store %t, %mine : i32, !llvm.ptr<3>
      nvvm.barrier0
      %other = llvm.sub %seven, %t : i32
      %its = llvm.getelementptr %s[0, %other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<8 x i32>
      %v = llvm.load %its : !llvm.ptr<3> -> i32
      llvm.store %v, %slot : i32, !llvm.ptr<1>
      llvm.return
    }
  }
  func.func private @printMemrefI32(memref<*xi32>)
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 8 : index
    %out = memref.alloc() : memref<8xi32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%out : memref<8xi32>)
    %all = memref.cast %out : memref<8xi32> to memref<*xi32>
    // CHECK: [7,  6,  5,  4,  3,  2,  1,  0]
    call @printMemrefI32(%all) : (memref<*xi32>) -> ()
    return
  }
}
