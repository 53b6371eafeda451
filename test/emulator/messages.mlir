// A block that reads what another one wrote must wait for its flag. One look at the flag, no loop, is right in the order
// in which blocks begin, and wrong in another: found on every seed, because kernels with such flags run in three orders.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: %tile_run %t/waits.mlir --target=emulate:sm_80 --stats=%t/one.json --out=%t/y.npy && FileCheck %s --check-prefix=ONE < %t/one.json
// RUN: %tile_run %t/waits.mlir --target=emulate:sm_80 --seed=7 | FileCheck %s --check-prefix=WAITS
// RUN: not %tile_run %t/forgets.mlir --target=emulate:sm_80 --seed=1 2>&1 | FileCheck %s
// RUN: not %tile_run %t/forgets.mlir --target=emulate:sm_80 --seed=2 2>&1 | FileCheck %s
// RUN: not %tile_run %t/forgets.mlir --target=emulate:sm_80 --seed=3 2>&1 | FileCheck %s
// RUN: not %tile_run %t/warps.mlir --target=emulate:sm_80 2>&1 | FileCheck %s --check-prefix=WARPS
// What the kernel prints is printed once, and what it counts is counted once.
// WAITS: {{^}}got 7{{$}}
// WAITS-NOT: got
// ONE: "threads": 2,
// CHECK: error: race: {{.*}}at argument 0+0; {{.*}}forgets.mlir:21:{{[0-9]+}} 'llvm.load'
// WARPS: warps.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{race|uninitialized read}}: {{.*}}shared+0

//--- waits.mlir
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global internal constant @text("got %d\0A\00") {addr_space = 0 : i32}
    llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
    llvm.func @k(%x: !llvm.ptr<1>) attributes {gpu.kernel} {
      %b = nvvm.read.ptx.sreg.ctaid.x : i32
      %c0 = llvm.mlir.constant(0 : i32) : i32
      %c1 = llvm.mlir.constant(1 : i32) : i32
      %c7 = llvm.mlir.constant(7 : i32) : i32
      %flag = llvm.getelementptr %x[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %out = llvm.getelementptr %x[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %writes = llvm.icmp "eq" %b, %c0 : i32
      llvm.cond_br %writes, ^write, ^wait
    ^write:
      llvm.store %c7, %x : i32, !llvm.ptr<1>
      llvm.store %c1, %flag atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
      llvm.return
    ^wait:
      %seen = llvm.load %flag atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %ready = llvm.icmp "eq" %seen, %c1 : i32
      llvm.cond_br %ready, ^read, ^wait
    ^read:
      %v = llvm.load %x : !llvm.ptr<1> -> i32
      llvm.store %v, %out : i32, !llvm.ptr<1>
      %room = llvm.alloca %c1 x i32 : (i32) -> !llvm.ptr
      llvm.store %v, %room : i32, !llvm.ptr
      %format = llvm.mlir.addressof @text : !llvm.ptr
      %n = llvm.call @vprintf(%format, %room) : (!llvm.ptr, !llvm.ptr) -> i32
      llvm.return
    }
  }
  func.func @main() -> memref<4xi32> {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %zero = arith.constant 0 : i32
    %x = memref.alloc() : memref<4xi32>
    linalg.fill ins(%zero : i32) outs(%x : memref<4xi32>)
    gpu.launch_func @kernels::@k blocks in (%two, %one, %one) threads in (%one, %one, %one) args(%x : memref<4xi32>)
    return %x : memref<4xi32>
  }
}

//--- forgets.mlir
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @k(%x: !llvm.ptr<1>) attributes {gpu.kernel} {
      %b = nvvm.read.ptx.sreg.ctaid.x : i32
      %c0 = llvm.mlir.constant(0 : i32) : i32
      %c1 = llvm.mlir.constant(1 : i32) : i32
      %c7 = llvm.mlir.constant(7 : i32) : i32
      %flag = llvm.getelementptr %x[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %out = llvm.getelementptr %x[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %writes = llvm.icmp "eq" %b, %c0 : i32
      llvm.cond_br %writes, ^write, ^wait
    ^write:
      llvm.store %c7, %x : i32, !llvm.ptr<1>
      llvm.store %c1, %flag atomic syncscope("device") release {alignment = 4 : i64} : i32, !llvm.ptr<1>
      llvm.return
    ^wait:
      %seen = llvm.load %flag atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      llvm.br ^read

    ^read:
      %v = llvm.load %x : !llvm.ptr<1> -> i32
      llvm.store %v, %out : i32, !llvm.ptr<1>
      llvm.return
    }
  }
  func.func @main(%x: memref<4xi32>) {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    gpu.launch_func @kernels::@k blocks in (%two, %one, %one) threads in (%one, %one, %one) args(%x : memref<4xi32>)
    return
  }
}

//--- warps.mlir
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global internal @s() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4 x i32>
    llvm.func @k(%x: !llvm.ptr<1>) attributes {gpu.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %c0 = llvm.mlir.constant(0 : i32) : i32
      %c1 = llvm.mlir.constant(1 : i32) : i32
      %c63 = llvm.mlir.constant(63 : i32) : i32
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %flag = llvm.getelementptr %s[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
      %first = llvm.icmp "eq" %t, %c0 : i32
      llvm.cond_br %first, ^clear, ^start
    ^clear:
      llvm.store %c0, %flag : i32, !llvm.ptr<3>
      llvm.br ^start
    ^start:
      nvvm.barrier0
      llvm.cond_br %first, ^write, ^other
    ^write:
      llvm.store %c63, %s : i32, !llvm.ptr<3>
      llvm.store %c1, %flag atomic syncscope("block") release {alignment = 4 : i64} : i32, !llvm.ptr<3>
      llvm.return
    ^other:
      %last = llvm.icmp "eq" %t, %c63 : i32
      llvm.cond_br %last, ^read, ^end
    ^read:
      %seen = llvm.load %flag atomic syncscope("block") acquire {alignment = 4 : i64} : !llvm.ptr<3> -> i32
      %v = llvm.load %s : !llvm.ptr<3> -> i32
      llvm.store %v, %x : i32, !llvm.ptr<1>
      llvm.return
    ^end:
      llvm.return
    }
  }
  func.func @main(%x: memref<4xi32>) {
    %one = arith.constant 1 : index
    %threads = arith.constant 64 : index
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%x : memref<4xi32>)
    return
  }
}
