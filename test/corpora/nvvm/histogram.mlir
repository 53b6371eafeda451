// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// Atomic sums in shared and global memory.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global internal @bins() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4 x i32>
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %one = llvm.mlir.constant(1 : i32) : i32
      %zero = llvm.mlir.constant(0 : i32) : i32
      %three = llvm.mlir.constant(3 : i32) : i32
      %four = llvm.mlir.constant(4 : i32) : i32
      %bins = llvm.mlir.addressof @bins : !llvm.ptr<3>
      %first = llvm.icmp "ult" %t, %four : i32
      %mine = llvm.getelementptr %bins[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<4 x i32>
      llvm.cond_br %first, ^clear, ^count
    ^clear:
      llvm.store %zero, %mine : i32, !llvm.ptr<3>
      llvm.br ^count
    ^count:
      nvvm.barrier0
      %bin = llvm.and %t, %three : i32
      %its = llvm.getelementptr %bins[0, %bin] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<4 x i32>
      %old = llvm.atomicrmw add %its, %one monotonic : !llvm.ptr<3>, i32
      nvvm.barrier0
      llvm.cond_br %first, ^write, ^end
    ^write:
      %sum = llvm.load %mine : !llvm.ptr<3> -> i32
      llvm.store %sum, %slot : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
      llvm.return
    }
  }
  func.func private @printMemrefI32(memref<*xi32>)
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    %out = memref.alloc() : memref<4xi32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%out : memref<4xi32>)
    %all = memref.cast %out : memref<4xi32> to memref<*xi32>
    // CHECK: [16,  16,  16,  16]
    call @printMemrefI32(%all) : (memref<*xi32>) -> ()
    return
  }
}
