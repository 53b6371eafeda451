// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// gpu.all_reduce mul of f32 over blocks of six threads, memory registered by its unranked descriptor.
func.func private @printMemrefF32(memref<*xf32>)
func.func @main() {
  %data = memref.alloc() : memref<2x6xf32>
  %out = memref.alloc() : memref<2xf32>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %all = memref.cast %data : memref<2x6xf32> to memref<*xf32>
  gpu.host_register %all : memref<*xf32>
  %results = memref.cast %out : memref<2xf32> to memref<*xf32>
  gpu.host_register %results : memref<*xf32>
  %v0 = arith.constant 1.0 : f32
  %r0 = arith.constant 0 : index
  %k0 = arith.constant 0 : index
  memref.store %v0, %data[%r0, %k0] : memref<2x6xf32>
  %v1 = arith.constant 2.0 : f32
  %r1 = arith.constant 0 : index
  %k1 = arith.constant 1 : index
  memref.store %v1, %data[%r1, %k1] : memref<2x6xf32>
  %v2 = arith.constant 3.0 : f32
  %r2 = arith.constant 0 : index
  %k2 = arith.constant 2 : index
  memref.store %v2, %data[%r2, %k2] : memref<2x6xf32>
  %v3 = arith.constant 4.0 : f32
  %r3 = arith.constant 0 : index
  %k3 = arith.constant 3 : index
  memref.store %v3, %data[%r3, %k3] : memref<2x6xf32>
  %v4 = arith.constant 5.0 : f32
  %r4 = arith.constant 0 : index
  %k4 = arith.constant 4 : index
  memref.store %v4, %data[%r4, %k4] : memref<2x6xf32>
  %v5 = arith.constant 6.0 : f32
  %r5 = arith.constant 0 : index
  %k5 = arith.constant 5 : index
  memref.store %v5, %data[%r5, %k5] : memref<2x6xf32>
  %v6 = arith.constant -1.0 : f32
  %r6 = arith.constant 1 : index
  %k6 = arith.constant 0 : index
  memref.store %v6, %data[%r6, %k6] : memref<2x6xf32>
  %v7 = arith.constant 0.5 : f32
  %r7 = arith.constant 1 : index
  %k7 = arith.constant 1 : index
  memref.store %v7, %data[%r7, %k7] : memref<2x6xf32>
  %v8 = arith.constant 2.0 : f32
  %r8 = arith.constant 1 : index
  %k8 = arith.constant 2 : index
  memref.store %v8, %data[%r8, %k8] : memref<2x6xf32>
  %v9 = arith.constant 2.0 : f32
  %r9 = arith.constant 1 : index
  %k9 = arith.constant 3 : index
  memref.store %v9, %data[%r9, %k9] : memref<2x6xf32>
  %v10 = arith.constant 3.0 : f32
  %r10 = arith.constant 1 : index
  %k10 = arith.constant 4 : index
  memref.store %v10, %data[%r10, %k10] : memref<2x6xf32>
  %v11 = arith.constant 1.0 : f32
  %r11 = arith.constant 1 : index
  %k11 = arith.constant 5 : index
  memref.store %v11, %data[%r11, %k11] : memref<2x6xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c6, %sy = %c1, %sz = %c1) {
    %value = memref.load %data[%bx, %tx] : memref<2x6xf32>
    %reduced = gpu.all_reduce mul %value uniform {} : (f32) -> (f32)
    %first = arith.constant 0 : index
    %isFirst = arith.cmpi eq, %tx, %first : index
    scf.if %isFirst {
      memref.store %reduced, %out[%bx] : memref<2xf32>
    }
    gpu.terminator
  }
  // CHECK: [720,  -6]
  call @printMemrefF32(%results) : (memref<*xf32>) -> ()
  return
}
