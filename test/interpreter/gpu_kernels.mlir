// RUN: tile-run %s --target=emulate:sm_80 --check-against=interpret | FileCheck %s
// RUN: tile-run %s --target=emulate:gfx942 --check-against=interpret | FileCheck %s
// RUN: tile-run %s --target=interpret --entry=launched | FileCheck %s --check-prefix=NONE --allow-empty
// Kernels of the dialect gpu by definition: shared memory of a gpu.func, a barrier, a reduction, atomics between blocks.
// CHECK-COUNT-2: 0 of 256 elements wrong
// CHECK: 0 of 4 elements wrong
// CHECK: 0 of 1 elements wrong
// NONE-NOT: error
module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" @last : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.func @reverse(%x: memref<256xf32>, %y: memref<256xf32>, %sums: memref<4xf32>, %count: memref<1xi32>)
        workgroup(%s: memref<64xf32, #gpu.address_space<workgroup>>)
        private(%p: memref<1xf32, #gpu.address_space<private>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c63 = arith.constant 63 : index
      %one = arith.constant 1 : i32
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %n = gpu.block_dim x
      %first = arith.muli %b, %n : index
      %at = arith.addi %first, %t : index
      %v = memref.load %x[%at] : memref<256xf32>
      memref.store %v, %p[%c0] : memref<1xf32, #gpu.address_space<private>>
      memref.store %v, %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      %g = memref.get_global @last : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %v, %g[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %other = arith.subi %c63, %t : index
      %a = memref.load %s[%other] : memref<64xf32, #gpu.address_space<workgroup>>
      %l = memref.load %g[%c63] : memref<64xf32, #gpu.address_space<workgroup>>
      %own = memref.load %p[%c0] : memref<1xf32, #gpu.address_space<private>>
      %d = arith.subf %a, %own : f32
      %e = arith.addf %d, %l : f32
      memref.store %e, %y[%at] : memref<256xf32>
      %sum = gpu.all_reduce add %v uniform {} : (f32) -> (f32)
      %isFirst = arith.cmpi eq, %t, %c0 : index
      scf.if %isFirst {
        memref.store %sum, %sums[%b] : memref<4xf32>
      }
      %old = memref.atomic_rmw addi %one, %count[%c0] : (i32, memref<1xi32>) -> i32
      gpu.return
    }
  }
  func.func @main(%x: memref<256xf32>, %y: memref<256xf32>, %sums: memref<4xf32>, %count: memref<1xi32>) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@reverse blocks in (%c4, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%x : memref<256xf32>, %y : memref<256xf32>, %sums : memref<4xf32>, %count : memref<1xi32>)
    return
  }
  func.func @launched(%x: memref<6xi32>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c3, %sy = %c1, %sz = %c1) {
      %first = arith.muli %bx, %sx : index
      %at = arith.addi %first, %tx : index
      %v = arith.index_cast %at : index to i32
      memref.store %v, %x[%at] : memref<6xi32>
      gpu.terminator
    }
    return
  }
}
