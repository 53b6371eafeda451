// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// Two launches, two kernels of one name's stem; the second one reads what the first one wrote.
func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %memory = memref.alloc() : memref<11xi32>
  %c1 = arith.constant 1 : index
  %c11 = arith.constant 11 : index
  %all = memref.cast %memory : memref<11xi32> to memref<*xi32>
  gpu.host_register %all : memref<*xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c11, %sy = %c1, %sz = %c1) {
    %thread = arith.index_cast %tx : index to i32
    memref.store %thread, %memory[%tx] : memref<11xi32>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c11, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %block = arith.index_cast %bx : index to i32
    %old = memref.load %memory[%bx] : memref<11xi32>
    %new = arith.muli %old, %block : i32
    memref.store %new, %memory[%bx] : memref<11xi32>
    gpu.terminator
  }
  // CHECK: [0,  1,  4,  9,  16,  25,  36,  49,  64,  81,  100]
  call @printMemrefI32(%all) : (memref<*xi32>) -> ()
  return
}
