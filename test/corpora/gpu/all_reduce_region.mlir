// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// gpu.all_reduce by a region, over more threads than one warp of NVIDIA has.
func.func private @printMemrefF32(memref<*xf32>)
func.func @main() {
  %memory = memref.alloc() : memref<37xf32>
  %dynamic = memref.cast %memory : memref<37xf32> to memref<?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %dynamic, %c0 : memref<?xf32>
  %all = memref.cast %dynamic : memref<?xf32> to memref<*xf32>
  gpu.host_register %all : memref<*xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    %value = arith.index_cast %tx : index to i32
    %reduced = gpu.all_reduce %value uniform {
    ^bb(%left : i32, %right : i32):
      %both = arith.xori %left, %right : i32
      "gpu.yield"(%both) : (i32) -> ()
    } : (i32) -> (i32)
    %result = arith.sitofp %reduced : i32 to f32
    memref.store %result, %dynamic[%tx] : memref<?xf32>
    gpu.terminator
  }
  // CHECK: [36,{{( +36,)+}} 36]
  call @printMemrefF32(%all) : (memref<*xf32>) -> ()
  return
}
