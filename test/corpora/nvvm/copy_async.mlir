// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// Asynchronous copies of 16 bytes into shared memory.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global internal @s() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<16 x i32>
    llvm.mlir.global internal constant @data(dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xi32>) {addr_space = 1 : i32, alignment = 16 : i64} : !llvm.array<16 x i32>
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %four = llvm.mlir.constant(4 : i32) : i32
      %at = llvm.mul %t, %four : i32
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %data = llvm.mlir.addressof @data : !llvm.ptr<1>
      %to = llvm.getelementptr %s[0, %at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<16 x i32>
      %from = llvm.getelementptr %data[0, %at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<16 x i32>
      nvvm.cp.async.shared.global %to, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 0
      nvvm.barrier0
      %v = llvm.load %to {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
      %place = llvm.getelementptr %out[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %place {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      llvm.return
    }
  }
  func.func private @printMemrefI32(memref<*xi32>)
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 4 : index
    %out = memref.alloc() : memref<16xi32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%out : memref<16xi32>)
    %all = memref.cast %out : memref<16xi32> to memref<*xi32>
    // CHECK: [0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,  12,  13,  14,  15]
    call @printMemrefI32(%all) : (memref<*xi32>) -> ()
    return
  }
}
