// Lanes of a subgroup by definition: shuffles of every mode, reductions of clusters, what a kernel prints, and the clock.
// RUN: tile-run %s --target=emulate:sm_80 --target=interpret --seed=2 | FileCheck %s --check-prefix=RIGHT
// RUN: tile-run %s --target=interpret --entry=prints | FileCheck %s
// RUN: tile-run %s --target=interpret --entry=clock | FileCheck %s --check-prefix=CLOCK
// RUN: not tile-run %s --target=interpret --entry=few 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not tile-run %s --target=interpret --entry=odd 2>&1 | FileCheck %s --check-prefix=ODD
// RIGHT-COUNT-5: 0 of {{64|192}} elements wrong
// CHECK: thread -1, 007, ff, 2.50, 100%
// CHECK-NEXT: thread 0, 007, ff, 2.50, 100%
// CLOCK: Memref {{.*}} rank = 1 offset = 0 sizes = [1] strides = [1] data =
// CLOCK-NEXT: [1]
// FEW: gpu_lanes.mlir:{{.*}} error: 'gpu.shuffle' op waits for threads of the subgroup that never come here: 2 of 4 did
// ODD: gpu_lanes.mlir:{{.*}} error: 'gpu.shuffle' op not interpreted yet: groups of 3 lanes in a block of 4 threads
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @lanes(%x: memref<64xf32>, %xor: memref<64xf32>, %up: memref<64xf32>, %down: memref<64xf32>, %idx: memref<64xf32>,
                    %valid: memref<192xi8>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c3 = arith.constant 3 : i32
      %c5 = arith.constant 5 : i32
      %c32 = arith.constant 32 : i32
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %zero = arith.constant 0.0 : f32
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : memref<64xf32>
      %a, %av = gpu.shuffle xor %v, %c5, %c32 : f32
      memref.store %a, %xor[%t] : memref<64xf32>
      %b, %bv = gpu.shuffle up %v, %c3, %c32 : f32
      %b0 = arith.select %bv, %b, %zero : f32
      memref.store %b0, %up[%t] : memref<64xf32>
      %c, %cv = gpu.shuffle down %v, %c3, %c32 : f32
      %c0 = arith.select %cv, %c, %zero : f32
      memref.store %c0, %down[%t] : memref<64xf32>
      %d, %dv = gpu.shuffle idx %v, %c3, %c32 : f32
      memref.store %d, %idx[%t] : memref<64xf32>
      %a8 = arith.extui %av : i1 to i8
      %b8 = arith.extui %bv : i1 to i8
      %c8 = arith.extui %cv : i1 to i8
      %t1 = arith.addi %t, %c64 : index
      %t2 = arith.addi %t, %c128 : index
      memref.store %a8, %valid[%t] : memref<192xi8>
      memref.store %b8, %valid[%t1] : memref<192xi8>
      memref.store %c8, %valid[%t2] : memref<192xi8>
      gpu.return
    }
    gpu.func @print() kernel {
      %t = gpu.thread_id x
      %one = arith.constant 1 : index
      %i = arith.subi %t, %one : index
      %small = arith.constant 7 : i8
      %byte = arith.constant -1 : i8
      %real = arith.constant 2.5 : f32
      gpu.printf "thread %lld, %03d, %x, %.2f, 100%%\n", %i, %small, %byte, %real : index, i8, i8, f32
      gpu.return
    }
    gpu.func @diverges(%bound: index, %width: i32) kernel {
      %t = gpu.thread_id x
      %one = arith.constant 1 : i32
      %is = arith.cmpi ult, %t, %bound : index
      scf.if %is {
        %v, %valid = gpu.shuffle xor %one, %one, %width : i32
      }
      gpu.return
    }
  }
  func.func @main(%x: memref<64xf32>, %xor: memref<64xf32>, %up: memref<64xf32>, %down: memref<64xf32>, %idx: memref<64xf32>,
                  %valid: memref<192xi8>) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@lanes blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%x : memref<64xf32>, %xor : memref<64xf32>, %up : memref<64xf32>, %down : memref<64xf32>, %idx : memref<64xf32>,
           %valid : memref<192xi8>)
    return
  }
  func.func @prints() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    gpu.launch_func @kernels::@print blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
    return
  }
  func.func @few() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %width = arith.constant 4 : i32
    gpu.launch_func @kernels::@diverges blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1) args(%c2 : index, %width : i32)
    return
  }
  func.func @odd() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %width = arith.constant 3 : i32
    gpu.launch_func @kernels::@diverges blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1) args(%c4 : index, %width : i32)
    return
  }
func.func private @rtclock() -> f64
func.func private @nanoTime() -> i64
func.func private @printMemref1dI32(memref<?xi32>) attributes {llvm.emit_c_interface}
func.func @clock() {
  %zero = arith.constant 0.0 : f64
  %none = arith.constant 0 : i64
  %t = call @rtclock() : () -> f64
  %n = call @nanoTime() : () -> i64
  %later = arith.cmpf ogt, %t, %zero : f64
  %counts = arith.cmpi sgt, %n, %none : i64
  %both = arith.andi %later, %counts : i1
  %one = arith.extui %both : i1 to i32
  %memory = memref.alloc() : memref<1xi32>
  linalg.fill ins(%one : i32) outs(%memory : memref<1xi32>)
  %all = memref.cast %memory : memref<1xi32> to memref<?xi32>
  call @printMemref1dI32(%all) : (memref<?xi32>) -> ()
  return
}
}
