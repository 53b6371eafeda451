// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// gpu.all_reduce over a block of three dimensions with more than one warp. Every thread stores the sum.
func.func private @printMemrefF32(memref<*xf32>)
func.func @main() {
  %memory = memref.alloc() : memref<2x4x13xf32>
  %all = memref.cast %memory : memref<2x4x13xf32> to memref<*xf32>
  gpu.host_register %all : memref<*xf32>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c13 = arith.constant 13 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c13, %sy = %c4, %sz = %c2) {
    %t0 = arith.muli %tz, %sy : index
    %t1 = arith.addi %ty, %t0 : index
    %t2 = arith.muli %t1, %sx : index
    %thread = arith.addi %tx, %t2 : index
    %integer = arith.index_cast %thread : index to i32
    %value = arith.sitofp %integer : i32 to f32
    %sum = gpu.all_reduce add %value uniform {} : (f32) -> (f32)
    memref.store %sum, %memory[%tz, %ty, %tx] : memref<2x4x13xf32>
    gpu.terminator
  }
  // CHECK-COUNT-8: [{{ *}}5356,{{.*}} 5356]
  call @printMemrefF32(%all) : (memref<*xf32>) -> ()
  return
}
