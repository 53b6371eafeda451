// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// A product of four bytes by four.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %a = llvm.mlir.constant(dense<[1, 2, 3, 4]> : vector<4xi8>) : vector<4xi8>
      %c = llvm.mlir.constant(0 : i32) : i32
      %d = nvvm.dot.accumulate.4way %a <signed>, %a <signed>, %c : vector<4xi8>, vector<4xi8>
      llvm.store %d, %slot : i32, !llvm.ptr<1>
      llvm.return
    }
  }
  func.func private @printMemrefI32(memref<*xi32>)
  func.func @main() {
    %one = arith.constant 1 : index
    %threads = arith.constant 1 : index
    %out = memref.alloc() : memref<1xi32>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%out : memref<1xi32>)
    %all = memref.cast %out : memref<1xi32> to memref<*xi32>
    // CHECK: [30]
    call @printMemrefI32(%all) : (memref<*xi32>) -> ()
    return
  }
}
