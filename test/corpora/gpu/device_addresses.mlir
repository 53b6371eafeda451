// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// The host's memory as the device sees it, asked of upstream's runtime.
func.func private @mgpuMemGetDeviceMemRef1dFloat(memref<?xf32>) -> memref<?xf32>
func.func private @printMemrefF32(memref<*xf32>)
func.func @double(%x : memref<?xf32>, %y : memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %a = memref.load %x[%bx] : memref<?xf32>
    %b = arith.addf %a, %a : f32
    memref.store %b, %y[%bx] : memref<?xf32>
    gpu.terminator
  }
  return
}
func.func @main() {
  %v = arith.constant 1.25 : f32
  %m = memref.alloc() : memref<4xf32>
  %r = memref.alloc() : memref<4xf32>
  linalg.fill ins(%v : f32) outs(%m : memref<4xf32>)
  %x = memref.cast %m : memref<4xf32> to memref<?xf32>
  %y = memref.cast %r : memref<4xf32> to memref<?xf32>
  %all = memref.cast %y : memref<?xf32> to memref<*xf32>
  gpu.host_register %all : memref<*xf32>
  %dx = call @mgpuMemGetDeviceMemRef1dFloat(%x) : (memref<?xf32>) -> memref<?xf32>
  %dy = call @mgpuMemGetDeviceMemRef1dFloat(%y) : (memref<?xf32>) -> memref<?xf32>
  call @double(%dx, %dy) : (memref<?xf32>, memref<?xf32>) -> ()
  // CHECK: [2.5,  2.5,  2.5,  2.5]
  call @printMemrefF32(%all) : (memref<*xf32>) -> ()
  return
}
