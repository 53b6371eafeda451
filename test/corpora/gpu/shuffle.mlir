// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// A shuffle whose second result says which lanes exist, in a block of thirteen threads.
func.func private @printMemrefF32(memref<*xf32>)
func.func @main() {
  %memory = memref.alloc() : memref<13xf32>
  %dynamic = memref.cast %memory : memref<13xf32> to memref<?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %dynamic, %c0 : memref<?xf32>
  %all = memref.cast %dynamic : memref<?xf32> to memref<*xf32>
  gpu.host_register %all : memref<*xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    %thread = arith.index_cast %tx : index to i32
    %value = arith.sitofp %thread : i32 to f32
    %width = arith.index_cast %sx : index to i32
    %two = arith.constant 2 : i32
    %shuffled, %isThere = gpu.shuffle xor %value, %two, %width : f32
    cf.cond_br %isThere, ^store(%shuffled : f32), ^lost
  ^lost:
    %none = arith.constant -1.0 : f32
    cf.br ^store(%none : f32)
  ^store(%result : f32):
    memref.store %result, %dynamic[%tx] : memref<?xf32>
    gpu.terminator
  }
  // CHECK: [2,  3,  0,  1,  6,  7,  4,  5,  10,  11,  8,  9,  -1]
  call @printMemrefF32(%all) : (memref<*xf32>) -> ()
  return
}
