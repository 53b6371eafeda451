// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// Upstream's async dialect on the host: a fork and a join of tasks that copy and launch.
func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 2 : index
  %host = memref.alloc(%n) : memref<?xi32>
  %all = memref.cast %host : memref<?xi32> to memref<*xi32>
  gpu.host_register %all : memref<*xi32>
  %v = arith.constant 21 : i32
  memref.store %v, %host[%c0] : memref<?xi32>
  memref.store %v, %host[%c1] : memref<?xi32>
  %t0, %f0 = async.execute () -> !async.value<memref<?xi32>> {
    %b0 = gpu.alloc(%n) : memref<?xi32>
    gpu.memcpy %b0, %host : memref<?xi32>, memref<?xi32>
    async.yield %b0 : memref<?xi32>
  }
  %t1, %f1 = async.execute [%t0] (%f0 as %b0 : !async.value<memref<?xi32>>) -> !async.value<memref<?xi32>> {
    %b1 = gpu.alloc(%n) : memref<?xi32>
    gpu.memcpy %b1, %b0 : memref<?xi32>, memref<?xi32>
    async.yield %b1 : memref<?xi32>
  }
  %t2, %f2 = async.execute [%t0] (%f0 as %b0 : !async.value<memref<?xi32>>) -> !async.value<memref<?xi32>> {
    %b2 = gpu.alloc(%n) : memref<?xi32>
    gpu.memcpy %b2, %b0 : memref<?xi32>, memref<?xi32>
    async.yield %b2 : memref<?xi32>
  }
  %t3 = async.execute [%t1, %t2] (%f1 as %b1 : !async.value<memref<?xi32>>,
                                  %f2 as %b2 : !async.value<memref<?xi32>>) {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
      %x = memref.load %b1[%tx] : memref<?xi32>
      %y = memref.load %b2[%tx] : memref<?xi32>
      %sum = arith.addi %x, %y : i32
      memref.store %sum, %host[%tx] : memref<?xi32>
      gpu.terminator
    }
    async.yield
  }
  async.await %t3 : !async.token
  // CHECK: [42, 42]
  call @printMemrefI32(%all) : (memref<*xi32>) -> ()
  return
}
