// RUN: not tile-run %s --target=interpret --entry=divergent 2>&1 | FileCheck %s --check-prefix=BARRIER
// RUN: not tile-run %s --target=interpret --entry=blocks 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not tile-run %s --target=interpret --entry=uninitialized 2>&1 | FileCheck %s --check-prefix=UNINITIALIZED
// RUN: not tile-run %s --target=interpret --entry=large 2>&1 | FileCheck %s --check-prefix=LARGE
// BARRIER: gpu_errors.mlir:{{.*}} error: 'gpu.barrier' op waits for threads of the block that never come here: 2 of 4 did
// BLOCKS: gpu_errors.mlir:{{.*}} error: 'memref.store' op program instances touch one element
// UNINITIALIZED: gpu_errors.mlir:{{.*}} error: 'memref.load' op reads an element that nobody wrote
// LARGE: gpu_errors.mlir:{{.*}} error: 'gpu.launch' op has more than 1024 threads in a block
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%x: memref<1xf32>) workgroup(%s: memref<1xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %v = memref.load %s[%c0] : memref<1xf32, #gpu.address_space<workgroup>>
      memref.store %v, %x[%c0] : memref<1xf32>
      gpu.return
    }
  }
  func.func @divergent() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c4, %sy = %c1, %sz = %c1) {
      %few = arith.cmpi ult, %tx, %c2 : index
      scf.if %few {
          gpu.barrier
      }
      gpu.terminator
    }
    return
  }
  func.func @blocks(%x: memref<1xindex>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
        memref.store %bx, %x[%c0] : memref<1xindex>
      gpu.terminator
    }
    return
  }
  func.func @uninitialized(%x: memref<1xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<1xf32>)
    return
  }
  func.func @large() {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c64, %sz = %c1) {
      gpu.terminator
    }
    return
  }
}
