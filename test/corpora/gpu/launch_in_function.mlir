// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// A function that launches, called with a memref of dynamic size: upstream's convention of descriptors.
func.func private @printMemrefF32(memref<*xf32>)
func.func @fill(%value : f32, %memory : memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %memory, %c0 : memref<?xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    memref.store %value, %memory[%tx] : memref<?xf32>
    gpu.terminator
  }
  return
}
func.func @main() {
  %memory = memref.alloc() : memref<7xf32>
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %value = arith.constant 1.5 : f32
  linalg.fill ins(%zero : f32) outs(%memory : memref<7xf32>)
  %dynamic = memref.cast %memory : memref<7xf32> to memref<?xf32>
  %all = memref.cast %dynamic : memref<?xf32> to memref<*xf32>
  gpu.host_register %all : memref<*xf32>
  // CHECK: [0,  0,  0,  0,  0,  0,  0]
  call @printMemrefF32(%all) : (memref<*xf32>) -> ()
  call @fill(%value, %dynamic) : (f32, memref<?xf32>) -> ()
  // CHECK: [1.5,  1.5,  1.5,  1.5,  1.5,  1.5,  1.5]
  call @printMemrefF32(%all) : (memref<*xf32>) -> ()
  // CHECK: ( 1.5, 1.5 )
  %read = vector.transfer_read %memory[%c3], %zero : memref<7xf32>, vector<2xf32>
  vector.print %read : vector<2xf32>
  return
}
