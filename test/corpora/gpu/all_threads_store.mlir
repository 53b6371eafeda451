// RUN: not tile-run %s --target=emulate:sm_80 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: tile-run %s --target=emulate:sm_80 --allow-races 2>&1 | FileCheck %s --check-prefix=ALLOWED
// RUN: not tile-run %s --target=interpret --allow-races 2>&1 | FileCheck %s --check-prefix=JUDGE
// Every thread stores the one result: a race, as the memory model has it, and harmless, as all store the same.
// RACE: all_threads_store.mlir:21:5: error: race:
// ALLOWED: all_threads_store.mlir:21:5: warning: race:
// ALLOWED: [28]
// JUDGE: --allow-races requires --target=emulate:CHIP
func.func private @printMemrefI32(memref<*xi32>)
func.func @main() {
  %out = memref.alloc() : memref<1xi32>
  %all = memref.cast %out : memref<1xi32> to memref<*xi32>
  gpu.host_register %all : memref<*xi32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1) {
    %value = arith.index_cast %tx : index to i32
    %sum = gpu.all_reduce add %value uniform {} : (i32) -> (i32)
    memref.store %sum, %out[%c0] : memref<1xi32>
    gpu.terminator
  }
  call @printMemrefI32(%all) : (memref<*xi32>) -> ()
  return
}
