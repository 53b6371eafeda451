// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// AMD's raw buffers: what lies beyond the buffer is not written.
func.func private @printMemrefF32(memref<*xf32>)
func.func @shifted(%x : memref<?xf32>, %y : memref<?xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %v = amdgpu.raw_buffer_load {boundsCheck = true} %x[%zero] : memref<?xf32>, i32 -> vector<2xf32>
    %w = arith.addf %v, %v : vector<2xf32>
    amdgpu.raw_buffer_store {boundsCheck = true} %w -> %y[%one] : vector<2xf32> -> memref<?xf32>, i32
    gpu.terminator
  }
  return
}
func.func @main() {
  %v = arith.constant 1.25 : f32
  %m = memref.alloc() : memref<4xf32>
  %r = memref.alloc() : memref<4xf32>
  linalg.fill ins(%v : f32) outs(%m : memref<4xf32>)
  linalg.fill ins(%v : f32) outs(%r : memref<4xf32>)
  %x = memref.cast %m : memref<4xf32> to memref<?xf32>
  %y = memref.cast %r : memref<4xf32> to memref<?xf32>
  call @shifted(%x, %y) : (memref<?xf32>, memref<?xf32>) -> ()
  // CHECK: [1.25,  2.5,  2.5,  1.25]
  %all = memref.cast %y : memref<?xf32> to memref<*xf32>
  call @printMemrefF32(%all) : (memref<*xf32>) -> ()
  return
}
