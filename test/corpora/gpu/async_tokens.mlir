// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// Allocations, copies and launches ordered by tokens; two chains that join.
func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %v = arith.constant 20 : i32
  %host = memref.alloc(%n) : memref<?xi32>
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.index_cast %i : index to i32
    %x = arith.addi %k, %v : i32
    memref.store %x, %host[%i] : memref<?xi32>
  }
  %t0 = gpu.wait async
  %a, %t1 = gpu.alloc async [%t0] (%n) : memref<?xi32>
  %t2 = gpu.memcpy async [%t1] %a, %host : memref<?xi32>, memref<?xi32>
  %b, %t3 = gpu.alloc async [%t0] (%n) : memref<?xi32>
  %t4 = gpu.memset async [%t3] %b, %v : memref<?xi32>, i32
  %join = gpu.wait async [%t2, %t4]
  %t5 = gpu.launch async [%join] blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%tx] : memref<?xi32>
    %y = memref.load %b[%tx] : memref<?xi32>
    %sum = arith.addi %x, %y : i32
    memref.store %sum, %a[%tx] : memref<?xi32>
    gpu.terminator
  }
  %t6 = gpu.memcpy async [%t5] %host, %a : memref<?xi32>, memref<?xi32>
  %t7 = gpu.dealloc async [%t6] %a : memref<?xi32>
  %t8 = gpu.dealloc async [%t6] %b : memref<?xi32>
  gpu.wait [%t7, %t8]
  // CHECK: [40,  41,  42]
  %all = memref.cast %host : memref<?xi32> to memref<*xi32>
  call @printMemrefI32(%all) : (memref<*xi32>) -> ()
  memref.dealloc %host : memref<?xi32>
  return
}
