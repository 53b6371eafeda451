// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// Two reductions in one kernel share the memory that the first one has used.
func.func private @printMemrefF32(memref<*xf32>)
func.func @main() {
  %data = memref.alloc() : memref<70xf32>
  %out = memref.alloc() : memref<2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c70 = arith.constant 70 : index
  scf.for %i = %c0 to %c70 step %c1 {
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    memref.store %f, %data[%i] : memref<70xf32>
  }
  %all = memref.cast %out : memref<2xf32> to memref<*xf32>
  %input = memref.cast %data : memref<70xf32> to memref<*xf32>
  gpu.host_register %input : memref<*xf32>
  gpu.host_register %all : memref<*xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c70, %sy = %c1, %sz = %c1) {
    %value = memref.load %data[%tx] : memref<70xf32>
    %sum = gpu.all_reduce add %value uniform {} : (f32) -> (f32)
    %most = gpu.all_reduce maxnumf %value uniform {} : (f32) -> (f32)
    %isFirst = arith.cmpi eq, %tx, %c0 : index
    scf.if %isFirst {
      memref.store %sum, %out[%c0] : memref<2xf32>
      memref.store %most, %out[%c1] : memref<2xf32>
    }
    gpu.terminator
  }
  gpu.host_unregister %input : memref<*xf32>
  // CHECK: [2415,  69]
  call @printMemrefF32(%all) : (memref<*xf32>) -> ()
  memref.dealloc %data : memref<70xf32>
  memref.dealloc %out : memref<2xf32>
  return
}
