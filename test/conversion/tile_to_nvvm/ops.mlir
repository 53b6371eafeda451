// What the ops that work across threads become: shuffles within a warp, shared memory between warps.
// RUN: %tile_opt %s --split-input-file --convert-tile-to-nvvm=chip=sm_80 --canonicalize | FileCheck %s
#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>

// Five steps over lanes. One lane of each warp stores what its warp has; every thread loads what both have.
// CHECK-LABEL: llvm.func @reduce
// CHECK: arith.addf
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: nvvm.barrier0
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> vector<2xf32>
// CHECK: arith.addf
tile.kernel @reduce(%x: memref<128xf32>, %y: memref<1xf32>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  %v = tile.load %X[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  %s = tile.reduce {arith.addf} %v axes [0] : tensor<128xf32, #l> -> f32
  memref.store %s, %y[%c0] : memref<1xf32>
  tile.return
}

// -----
#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
// Order and scope; what releases waits for all threads, the old value reaches them all.
// CHECK-LABEL: llvm.func @ticket
// CHECK: llvm.store
// CHECK: nvvm.barrier0
// CHECK: scf.if
// CHECK: llvm.atomicrmw add %{{.*}}, %{{.*}} syncscope("device") acq_rel {alignment = 4 : i64} : !llvm.ptr<1>, i32
// CHECK: nvvm.barrier0
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK: llvm.fence syncscope("block") acquire
tile.kernel @ticket(%m: memref<4xi32>, %y: memref<9xi32>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  memref.store %one, %y[%c0] : memref<9xi32>
  %old = tile.atomic_rmw add %one, %m[%c0] acq_rel device : i32, memref<4xi32> -> i32
  tile.fence acquire block
  %at = arith.index_cast %old : i32 to index
  memref.store %old, %y[%at] : memref<9xi32>
  tile.return
}

// -----
#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
// Written, then read through another view of the same parameter: a barrier stands between. Through one that shares no
// memory: none.
// CHECK-LABEL: llvm.func @order
// CHECK: llvm.store {{.*}} vector<2xf32>, !llvm.ptr<1>
// CHECK-NOT: nvvm.barrier0
// CHECK: llvm.load {{.*}} -> vector<2xf32>
// CHECK: nvvm.barrier0
// CHECK: llvm.load {{.*}} -> vector<2xf32>
tile.kernel @order(%x_: memref<128xf32>, %y_: memref<128xf32> {llvm.noalias}, %z_: memref<128xf32>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<128xf32, #l>
  %x = tile.assume %x_ align 16 : memref<128xf32>
  %y = tile.assume %y_ align 16 : memref<128xf32>
  %z = tile.assume %z_ align 16 : memref<128xf32>
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  %Y = tile.view %y : memref<128xf32> to !tile.view<128xf32>
  %Z = tile.view %z : memref<128xf32> to !tile.view<128xf32>
  tile.store %zero, %X[%c0] : tensor<128xf32, #l>, !tile.view<128xf32>
  %a = tile.load %Y[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  %W = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  %b = tile.load %W[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  %s = arith.addf %a, %b : tensor<128xf32, #l>
  tile.store %s, %Z[%c0] : tensor<128xf32, #l>, !tile.view<128xf32>
  tile.return
}

// -----
#a = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
#b = #tile.layout<reg [2:d0*32], lane [32:d0], warp [2:d0*64]>
// Within a warp a conversion is shuffles: no shared memory at all.
// CHECK-NOT: llvm.mlir.global
// CHECK-LABEL: llvm.func @convert
// CHECK-COUNT-2: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
tile.kernel @convert(%x: memref<128xf32>, %y: memref<128xf32>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  %Y = tile.view %y : memref<128xf32> to !tile.view<128xf32>
  %v = tile.load %X[%c0] : !tile.view<128xf32> -> tensor<128xf32, #a>
  %w = tile.convert_layout %v : tensor<128xf32, #a> -> tensor<128xf32, #b>
  tile.store %w, %Y[%c0] : tensor<128xf32, #b>, !tile.view<128xf32>
  tile.return
}

// -----
#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [2:d0*64]>
// A failed assertion names the place; a message is printed by one thread.
// CHECK: llvm.mlir.global internal constant @text_{{[0-9]}}("n = %lld\00")
// CHECK: llvm.mlir.global internal constant @text_{{[0-9]}}("{{.*}}mlir:{{[0-9]+}}:{{[0-9]+}}: too many\00")
// CHECK-LABEL: llvm.func @report
// CHECK: llvm.call @__assertfail
// CHECK: llvm.call @vprintf
tile.kernel @report(%n: index, %y: memref<1xi32>) attributes {warps = 2 : i32} {
  %c9 = arith.constant 9 : index
  %ok = arith.cmpi slt, %n, %c9 : index
  tile.assert %ok, "too many" : i1
  tile.print "n = {}", %n : index
  tile.return
}

// -----
// Kernel and launch: the GPU's, on the same memrefs.
// CHECK: gpu.launch_func @kernels::@k blocks in (%{{.*}}, %{{.*}}, %{{.*}}) threads in (%c64, %c1, %c1) args(%{{.*}} : memref<?xf32>)
tile.kernel @k(%y: memref<?xf32>) attributes {warps = 2 : i32} {
  tile.return
}
func.func @main(%n: index, %y: memref<?xf32>) {
  tile.launch @k grid(%n) outs(%y : memref<?xf32>)
  return
}

// A constant mask keeps the first number below 64: no bound is checked. The second may be 64.
// CHECK-LABEL: llvm.func @masked_places
// CHECK-NOT: cmpi ult
// CHECK: llvm.load %{{.*}} -> f32
// CHECK: arith.cmpi ult
// CHECK: llvm.intr.masked.load
tile.kernel @masked_places(%x: memref<64xf32>, %n: memref<32xi32>, %y: memref<32xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %N = tile.view %n : memref<32xi32> to !tile.view<32xi32>
  %Y = tile.view %y : memref<32xf32> to !tile.view<32xf32>
  %m63 = arith.constant dense<63> : tensor<32xi32, #tile.layout<lane [32:d0]>>
  %m64 = arith.constant dense<64> : tensor<32xi32, #tile.layout<lane [32:d0]>>
  %i = tile.load %N[%c0] : !tile.view<32xi32> -> tensor<32xi32, #tile.layout<lane [32:d0]>>
  %a = arith.andi %i, %m63 : tensor<32xi32, #tile.layout<lane [32:d0]>>
  %b = arith.andi %i, %m64 : tensor<32xi32, #tile.layout<lane [32:d0]>>
  %v = tile.gather %x[%a] bounds(drop) : memref<64xf32>[tensor<32xi32, #tile.layout<lane [32:d0]>>] -> tensor<32xf32, #tile.layout<lane [32:d0]>>
  %w = tile.gather %x[%b] bounds(drop) : memref<64xf32>[tensor<32xi32, #tile.layout<lane [32:d0]>>] -> tensor<32xf32, #tile.layout<lane [32:d0]>>
  %s = arith.addf %v, %w : tensor<32xf32, #tile.layout<lane [32:d0]>>
  tile.store %s, %Y[%c0] : tensor<32xf32, #tile.layout<lane [32:d0]>>, !tile.view<32xf32>
  tile.return
}
