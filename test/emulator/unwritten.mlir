// Memory that the host allocated and nobody wrote: a kernel's read of it is a finding, also when the memory was used
// before, when the host copied it, and when a kernel wrote a part of it. Arguments are written by whoever gave them.
// RUN: not %tile_run %s --target=emulate:sm_80 --entry=fresh 2>&1 | FileCheck %s --check-prefix=FRESH
// RUN: not %tile_run %s --target=emulate:sm_80 --entry=again 2>&1 | FileCheck %s --check-prefix=FRESH
// RUN: not %tile_run %s --target=emulate:sm_80 --entry=copied 2>&1 | FileCheck %s --check-prefix=FRESH
// RUN: not %tile_run %s --target=emulate:sm_80 --entry=in_part 2>&1 | FileCheck %s --check-prefix=PART
// RUN: %tile_run %s --target=emulate:sm_80 --entry=filled --out=%t.npy
// FRESH: unwritten.mlir:17:{{[0-9]+}}: error: uninitialized read: read of allocation+{{[0-9]+}}, which nothing has written
// FRESH: tile-run: error: kernel 'copy': 1 finding
// PART: unwritten.mlir:17:{{[0-9]+}}: error: uninitialized read: read of allocation+128, which nothing has written
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @copy(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %px = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %py = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %v = llvm.load %px : !llvm.ptr<1> -> i32
      llvm.store %v, %py : i32, !llvm.ptr<1>
      llvm.return
    }
  }
  func.func @fresh(%y: memref<64xi32>) {
    %one = arith.constant 1 : index
    %n = arith.constant 64 : index
    %dynamic = memref.alloc(%n) : memref<?xi32>
    %m = memref.cast %dynamic : memref<?xi32> to memref<64xi32>
    gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%n, %one, %one)
      args(%m : memref<64xi32>, %y : memref<64xi32>)
    return
  }
  func.func @again(%y: memref<64xi32>) {
    %one = arith.constant 1 : index
    %n = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %first = memref.alloc(%n) : memref<?xi32>
    linalg.fill ins(%zero : i32) outs(%first : memref<?xi32>)
    %m = memref.cast %first : memref<?xi32> to memref<64xi32>
    gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%n, %one, %one)
      args(%m : memref<64xi32>, %y : memref<64xi32>)
    memref.dealloc %first : memref<?xi32>
    func.call @fresh(%y) : (memref<64xi32>) -> ()
    return
  }
  func.func @copied(%y: memref<64xi32>) {
    %one = arith.constant 1 : index
    %n = arith.constant 64 : index
    %from = memref.alloc() : memref<64xi32>
    %to = memref.alloc() : memref<64xi32>
    memref.copy %from, %to : memref<64xi32> to memref<64xi32>
    gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%n, %one, %one)
      args(%to : memref<64xi32>, %y : memref<64xi32>)
    return
  }
  func.func @in_part(%x: memref<64xi32>, %y: memref<64xi32>) {
    %one = arith.constant 1 : index
    %half = arith.constant 32 : index
    %n = arith.constant 64 : index
    %m = memref.alloc() : memref<64xi32>
    gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%half, %one, %one)
      args(%x : memref<64xi32>, %m : memref<64xi32>)
    gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%n, %one, %one)
      args(%m : memref<64xi32>, %y : memref<64xi32>)
    return
  }
  func.func @filled(%x: memref<64xi32>, %y: memref<64xi32>) {
    %one = arith.constant 1 : index
    %n = arith.constant 64 : index
    %m = memref.alloc() : memref<64xi32>
    gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%n, %one, %one)
      args(%x : memref<64xi32>, %m : memref<64xi32>)
    gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%n, %one, %one)
      args(%m : memref<64xi32>, %y : memref<64xi32>)
    return
  }
}
