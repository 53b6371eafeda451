// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// Special registers: lane, warp, sizes.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @kernel(%out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %slot = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %lane = nvvm.read.ptx.sreg.laneid : i32
      %warp = nvvm.read.ptx.sreg.warpid : i32
      %width = nvvm.read.ptx.sreg.warpsize : i32
      %size = nvvm.read.ptx.sreg.ntid.x : i32
      %a = llvm.mul %warp, %width : i32
      %b = llvm.add %a, %lane : i32
      %c = llvm.add %b, %size : i32
      llvm.store %c, %slot : i32, !llvm.ptr<1>
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
    // CHECK: [64,  65,  66,
    call @printMemrefI32(%all) : (memref<*xi32>) -> ()
    return
  }
}
