// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// Vectors and a view of a row in a kernel; each thread has a row.
func.func private @printMemrefF32(memref<*xf32>)
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %x = memref.alloc() : memref<2x4xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %k = arith.addi %i, %j : index
      %n = arith.index_cast %k : index to i32
      %f = arith.sitofp %n : i32 to f32
      memref.store %f, %x[%i, %j] : memref<2x4xf32>
    }
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c2, %sy = %c1, %sz = %c1) {
    %v = vector.transfer_read %x[%tx, %c0], %zero {in_bounds = [true]} : memref<2x4xf32>, vector<4xf32>
    %sum = vector.reduction <add>, %v : vector<4xf32> into f32
    %all = vector.broadcast %sum : f32 to vector<4xf32>
    %w = arith.addf %v, %all : vector<4xf32>
    vector.transfer_write %w, %x[%tx, %c0] {in_bounds = [true]} : vector<4xf32>, memref<2x4xf32>
    %row = memref.subview %x[%tx, 0] [1, 4] [1, 1] : memref<2x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
    memref.store %zero, %row[%c0, %c1] : memref<1x4xf32, strided<[4, 1], offset: ?>>
    gpu.terminator
  }
  // CHECK: [6,{{ +}}0,{{ +}}8,{{ +}}9]
  // CHECK-NEXT: [11,{{ +}}0,{{ +}}13,{{ +}}14]
  %all = memref.cast %x : memref<2x4xf32> to memref<*xf32>
  call @printMemrefF32(%all) : (memref<*xf32>) -> ()
  return
}
