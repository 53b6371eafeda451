// A hand-written kernel in the nvvm and llvm dialects: the machine's numbers of threads, guarded accesses, scalars.
// RUN: %python %source/test/run/check.py %tile_run %s --target=emulate:sm_80
// in: normal(200), normal(200), np.float32(3)
// in: normal(256), normal(256), np.float32(-0.5)
// in: normal(1), normal(1), np.float32(1)
// expect: x0
// expect: x0 * x2
// tolerance: 0
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @scale(%x: !llvm.ptr<1>, %n: i64, %y: !llvm.ptr<1>, %unused: i64, %factor: f32)
        attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %b = nvvm.read.ptx.sreg.ctaid.x : i32
      %d = nvvm.read.ptx.sreg.ntid.x : i32
      %base = llvm.mul %b, %d : i32
      %i32 = llvm.add %base, %t : i32
      %i = llvm.zext %i32 : i32 to i64
      %in = llvm.icmp "slt" %i, %n : i64
      llvm.cond_br %in, ^body, ^end
    ^body:
      %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %py = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %v = llvm.load %px : !llvm.ptr<1> -> f32
      %w = llvm.fmul %v, %factor : f32
      llvm.store %w, %py : f32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
      llvm.return
    }
  }
  func.func @main(%x: memref<?xf32>, %y: memref<?xf32>, %factor: f32) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@scale blocks in (%c4, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<?xf32>, %y: memref<?xf32>, %factor : f32)
    return
  }
}
