// Kernels of either maker's calling convention run; sizes that no launch can have are refused.
// RUN: %tile_run %s --entry=nvidia --target=emulate:sm_80 --out=%t.npy
// RUN: %python -c "import numpy as np; assert (np.load('%t.npy') == 7).all()"
// RUN: %tile_run %s --entry=amd --target=emulate:gfx942 --out=%t.npy
// RUN: %python -c "import numpy as np; assert (np.load('%t.npy') == 7).all()"
// RUN: not %tile_run %s --entry=negative_grid --target=emulate:sm_80 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: error: kernel 'n': -1 programs along x; expected at least 0
// RUN: not %tile_run %s --entry=negative_shared --target=emulate:sm_80 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: error: kernel 'n': -4 bytes of dynamic shared memory; expected 0 to 2147483647

// Blocks that wait for each other: all are there at once if the kernel is cooperative, on one thread of the host, too.
// RUN: %python -c "import numpy as np; np.save('%t.zero.npy', np.zeros(4, 'i4'))"
// RUN: %tile_run %s --entry=together --target=emulate:sm_80 --threads=1 --in=%t.zero.npy --out=%t.npy --timeout=60
// RUN: %python -c "import numpy as np; assert np.load('%t.npy')[0] == 4"
// RUN: not %tile_run %s --entry=alone --target=emulate:sm_80 --threads=1 --in=%t.zero.npy --timeout=60 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: launches.mlir:{{[0-9]+}}:{{[0-9]+}}: error: deadlock: {{.*}} a loop on memory that does not change

// A flag that nobody sets, awaited by all lanes of a warp, with a plain load in the loop:
// RUN: not %tile_run %s --entry=forever --target=emulate:sm_80 --in=%t.zero.npy --timeout=60 2>&1 | FileCheck %s --check-prefix=FOREVER
// FOREVER: launches.mlir:{{[0-9]+}}:{{[0-9]+}}: error: deadlock: 32 lanes of warp 0 at a loop on memory that does not change
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func ptx_kernelcc @n(%x: !llvm.ptr<1>) attributes {gpu.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %seven = llvm.mlir.constant(7 : i32) : i32
      llvm.store %seven, %p : i32, !llvm.ptr<1>
      llvm.return
    }
    llvm.func amdgpu_kernelcc @a(%x: !llvm.ptr<1>) attributes {gpu.kernel} {
      %t = rocdl.workitem.id.x : i32
      %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %seven = llvm.mlir.constant(7 : i32) : i32
      llvm.store %seven, %p : i32, !llvm.ptr<1>
      llvm.return
    }
    llvm.func @together(%x: !llvm.ptr<1>) attributes {gpu.kernel, cooperative} {
      %n = nvvm.read.ptx.sreg.nctaid.x : i32
      %one = llvm.mlir.constant(1 : i32) : i32
      %old = llvm.atomicrmw add %x, %one syncscope("device") acq_rel : !llvm.ptr<1>, i32
      llvm.br ^wait
    ^wait:
      %seen = llvm.load %x atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %all = llvm.icmp "eq" %seen, %n : i32
      llvm.cond_br %all, ^end, ^wait
    ^end:
      llvm.return
    }
    llvm.func @alone(%x: !llvm.ptr<1>) attributes {gpu.kernel} {
      %n = nvvm.read.ptx.sreg.nctaid.x : i32
      %one = llvm.mlir.constant(1 : i32) : i32
      %old = llvm.atomicrmw add %x, %one syncscope("device") acq_rel : !llvm.ptr<1>, i32
      llvm.br ^wait
    ^wait:
      %seen = llvm.load %x atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %all = llvm.icmp "eq" %seen, %n : i32
      llvm.cond_br %all, ^end, ^wait
    ^end:
      llvm.return
    }
  }
  gpu.module @others {
    llvm.func @forever(%x: !llvm.ptr<1>) attributes {gpu.kernel} {
      %one = llvm.mlir.constant(1 : i32) : i32
      %p = llvm.getelementptr %x[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      llvm.br ^wait
    ^wait:
      %seen = llvm.load volatile %x : !llvm.ptr<1> -> i32
      %beside = llvm.load %p : !llvm.ptr<1> -> i32
      %is = llvm.icmp "eq" %seen, %one : i32
      llvm.cond_br %is, ^end, ^wait
    ^end:
      llvm.store %beside, %x : i32, !llvm.ptr<1>
      llvm.return
    }
  }
  func.func @forever(%x: memref<4xi32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @others::@forever blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<4xi32>)
    return
  }
  func.func @nvidia(%x: memref<4xi32>) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    gpu.launch_func @kernels::@n blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1) args(%x : memref<4xi32>)
    return
  }
  func.func @amd(%x: memref<4xi32>) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    gpu.launch_func @kernels::@a blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1) args(%x : memref<4xi32>)
    return
  }
  func.func @negative_grid(%x: memref<4xi32>) {
    %c1 = arith.constant 1 : index
    %n = arith.constant -1 : index
    gpu.launch_func @kernels::@n blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xi32>)
    return
  }
  func.func @negative_shared(%x: memref<4xi32>) {
    %c1 = arith.constant 1 : index
    %n = arith.constant -4 : i32
    gpu.launch_func @kernels::@n blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %n args(%x : memref<4xi32>)
    return
  }
  func.func @together(%x: memref<4xi32>) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    gpu.launch_func @kernels::@together blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xi32>)
    return
  }
  func.func @alone(%x: memref<4xi32>) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    gpu.launch_func @kernels::@alone blocks in (%c4, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xi32>)
    return
  }
}
