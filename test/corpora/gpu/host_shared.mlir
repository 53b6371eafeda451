// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// gpu.alloc host_shared: both sides read and write without copies.
module attributes {gpu.container_module} {
  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = arith.constant 1000 : i32
    %memory = gpu.alloc host_shared () : memref<1xi32>
    memref.store %v, %memory[%c0] : memref<1xi32>
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      %x = memref.load %memory[%c0] : memref<1xi32>
      %twice = arith.addi %x, %x : i32
      memref.store %twice, %memory[%c0] : memref<1xi32>
      gpu.terminator
    }
    %x = memref.load %memory[%c0] : memref<1xi32>
    // CHECK: 2000
    vector.print %x : i32
    return
  }
}
