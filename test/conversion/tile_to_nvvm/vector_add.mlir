// A kernel's ABI, the thread's part of the addresses, masks, and vectors where the program knows enough.
// RUN: %tile_opt %s --convert-tile-to-nvvm=chip=sm_80 | FileCheck %s
// RUN: %tile_opt %s --tile-to-nvvm-pipeline=chip=sm_80 | FileCheck %s --check-prefix=LLVM
#l = #tile.layout<reg [4:d0, 2:d0*512], lane [32:d0*4], warp [4:d0*128]>

// A memref is a pointer, then its dynamic sizes.
// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80"
// CHECK: llvm.func @add(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %[[Z:.*]]: !llvm.ptr<1>, %{{.*}}: i64) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>}
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: nvvm.read.ptx.sreg.ctaid.x
// Nothing is known of %x: eight elements one by one, each under its own condition.
// CHECK-COUNT-8: llvm.intr.masked.load %{{.*}} {alignment = 4 : i32} : (!llvm.ptr<1>, vector<1xi1>, vector<1xf32>) -> vector<1xf32>
// CHECK-NOT: masked.load
// CHECK-COUNT-8: arith.addf
// %z is aligned, and its size a multiple of 4: two vectors.
// CHECK-COUNT-2: llvm.intr.masked.store %{{.*}} {alignment = 16 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr<1>
// CHECK-NOT: masked.store

// LLVM-NOT: {{arith|scf|tile}}.
// LLVM: llvm.intr.masked.store
tile.kernel @add(%x: memref<?xf32>, %z_: memref<?xf32>) attributes {machine = #tile.machine<"sm_80">, warps = 4 : i32} {
  %i = tile.program_id 0
  %z = tile.assume %z_ align 16 sizes [4] : memref<?xf32>
  %X = tile.view %x : memref<?xf32> to !tile.view<1024xf32>
  %Z = tile.view %z : memref<?xf32> to !tile.view<1024xf32>
  %a = tile.load %X[%i] : !tile.view<1024xf32> -> tensor<1024xf32, #l>
  %c = arith.addf %a, %a : tensor<1024xf32, #l>
  tile.store %c, %Z[%i] : tensor<1024xf32, #l>, !tile.view<1024xf32>
  tile.return
}
