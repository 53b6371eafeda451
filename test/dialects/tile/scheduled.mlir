// The scheduled level: every op in every optional form keeps its meaning in its pretty, generic and bytecode form.
// RUN: sh %source/test/round_trip.sh %s %t %tile_opt
// RUN: sh %source/test/round_trip.sh %s %t.plugin %mlir_opt_plugin
// RUN: %tile_opt %s | FileCheck %s

#rows = #tile.layout<offset [32:d1, 128:d0]>
#regs = #tile.layout<reg [8:d1, 4:d0*32], lane [4:d1*8, 8:d0], warp [4:d0*8]>
#wide = #tile.layout<reg [4:d1, 8:d0*16], lane [8:d1*4, 4:d0], warp [4:d0*4]>
#acc = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:d1*64]>
#lhs = #tile.layout<reg [2:d1, 2:d0*8, 4:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:_]>
#rhs = #tile.layout<reg [2:d0, 4:d0*8, 8:d1*8], lane [4:d0*2, 8:d1], warp [2:_, 2:d1*64]>
#cols = #tile.layout<offset [128:d1, 32:d0]>

// CHECK-LABEL: tile.kernel @copies
tile.kernel @copies(%x: memref<?x?xf16>, %i: index) attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %X = tile.view %x : memref<?x?xf16> to !tile.view<128x32xf16>
  // CHECK: tile.alloc : !buffer
  %ring = tile.alloc : !tile.buffer<128x32xf16, #rows, shared, stages = 3>
  // CHECK: tile.alloc {here} : !buffer
  %b = tile.alloc {here} : !tile.buffer<128x32xf16, #rows, shared>
  // CHECK: tile.alloc at 4096 : !buffer
  %placed = tile.alloc at 4096 : !tile.buffer<128x32xf16, #rows, shared>
  // CHECK: tile.alloc : !tile.barrier<3>
  %bar = tile.alloc : !tile.barrier<3>
  // CHECK: tile.alloc : !tile.barrier<1, arrivals = 2>
  %two = tile.alloc : !tile.barrier<1, arrivals = 2>
  // CHECK: tile.slot %{{.*}}[%{{.*}}] : !buffer
  %s = tile.slot %ring[%i] : !tile.buffer<128x32xf16, #rows, shared, stages = 3>
  // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} : !tile.view<128x32xf16> to !buffer
  tile.copy %X[%i, %i] to %s : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #rows, shared>
  // CHECK: tile.copy %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : !buffer{{.*}} to !tile.view<128x32xf16>
  tile.copy %s to %X[%i, %i] : !tile.buffer<128x32xf16, #rows, shared> to !tile.view<128x32xf16>
  // CHECK: tile.prefetch %{{.*}}[%{{.*}}, %{{.*}}] : !tile.view<128x32xf16>
  tile.prefetch %X[%i, %i] : !tile.view<128x32xf16>
  // CHECK: tile.prefetch %{{.*}}[%{{.*}}, %{{.*}}] write : !tile.view<128x32xf16>
  tile.prefetch %X[%i, %i] write : !tile.view<128x32xf16>
  // CHECK: %[[T0:.*]] = tile.copy_async %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} : !tile.view<128x32xf16> to !buffer
  %t0 = tile.copy_async %X[%i, %i] to %s : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #rows, shared>
  // CHECK: %[[T1:.*]] = tile.copy_async %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] engine "tma" : !buffer{{.*}} to !tile.view<128x32xf16>
  %t1 = tile.copy_async %b to %X[%i, %i] engine "tma" : !tile.buffer<128x32xf16, #rows, shared> to !tile.view<128x32xf16>
  // CHECK: tile.copy_async %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} engine "tma" multicast [0] signals %{{.*}}[%{{.*}}] : !tile.view<128x32xf16> to !buffer{{.*}}, !tile.barrier<3>
  tile.copy_async %X[%i, %i] to %b engine "tma" multicast [0] signals %bar[%i]
      : !tile.view<128x32xf16> to !tile.buffer<128x32xf16, #rows, shared>, !tile.barrier<3>
  // CHECK: %[[T:.*]] = tile.join %[[T0]], %[[T1]]
  %t = tile.join %t0, %t1
  // CHECK: tile.wait %[[T]]
  tile.wait %t
  // CHECK: tile.wait %[[T]] pending 2
  tile.wait %t pending 2
  // CHECK: tile.barrier_arrive %{{.*}}[%{{.*}}] : !tile.barrier<3>
  tile.barrier_arrive %bar[%i] : !tile.barrier<3>
  // CHECK: tile.barrier_arrive %{{.*}}[%{{.*}}] expect 8192 cluster %{{.*}} : !tile.barrier<3>
  tile.barrier_arrive %bar[%i] expect 8192 cluster %i : !tile.barrier<3>
  // CHECK: tile.barrier_arrive %{{.*}}[%{{.*}}] multicast [0, 1] reads : !tile.barrier<3>
  tile.barrier_arrive %bar[%i] multicast [0, 1] reads : !tile.barrier<3>
  // CHECK: tile.barrier_wait %{{.*}}[%{{.*}}] : !tile.barrier<3>
  tile.barrier_wait %bar[%i] : !tile.barrier<3>
  // CHECK: tile.fence async
  tile.fence async
  // CHECK: tile.fence acq_rel device
  tile.fence acq_rel device
  // CHECK: %[[V:.*]] = tile.load %{{.*}} : !buffer{{.*}} -> tensor<128x32xf16, #{{.*}}>
  %v = tile.load %b : !tile.buffer<128x32xf16, #rows, shared> -> tensor<128x32xf16, #regs>
  // CHECK: %[[W:.*]] = tile.convert_layout %[[V]] : tensor<128x32xf16, #{{.*}}> -> tensor<128x32xf16, #{{.*}}>
  %w = tile.convert_layout %v : tensor<128x32xf16, #regs> -> tensor<128x32xf16, #wide>
  // CHECK: tile.store %[[W]], %{{.*}} : tensor<128x32xf16, #{{.*}}>, !buffer
  tile.store %w, %b : tensor<128x32xf16, #wide>, !tile.buffer<128x32xf16, #rows, shared>
  // CHECK: tile.sync{{$}}
  tile.sync
  // CHECK: tile.sync cluster
  tile.sync cluster
  tile.return
}

// CHECK-LABEL: tile.kernel @products
tile.kernel @products(%i: index) attributes {machine = #tile.machine<"sm_80">, warps = 4 : i32} {
  %A = tile.alloc : !tile.buffer<128x32xf16, #rows, shared>
  %B = tile.alloc : !tile.buffer<32x128xf16, #cols, shared>
  %a = tile.load %A : !tile.buffer<128x32xf16, #rows, shared> -> tensor<128x32xf16, #lhs>
  %b = tile.load %B : !tile.buffer<32x128xf16, #cols, shared> -> tensor<32x128xf16, #rhs>
  %c = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
  // CHECK: tile.mma %{{.*}}, %{{.*}}, %{{.*}} atom "mma.sync.m16n8k16" : tensor<128x32xf16, #{{.*}}>, tensor<32x128xf16, #{{.*}}> -> tensor<128x128xf32, #{{.*}}>
  %d = tile.mma %a, %b, %c atom "mma.sync.m16n8k16" : tensor<128x32xf16, #lhs>, tensor<32x128xf16, #rhs> -> tensor<128x128xf32, #acc>
  tile.return
}

// CHECK-LABEL: tile.kernel @partitions
tile.kernel @partitions(%x: memref<?xf32>, %i: index) attributes {warps = 12 : i32} {
  %full = tile.alloc : !tile.barrier<3>
  // CHECK: tile.warp_specialize captures(%[[FULL:.*]], %[[I:.*]] : !tile.barrier<3>, index) attributes {here}
  // CHECK-NEXT: partition "load" warps(4) registers(40) {
  // CHECK-NEXT: tile.barrier_arrive %[[FULL]][%[[I]]]
  tile.warp_specialize captures(%full, %i : !tile.barrier<3>, index) attributes {here}
  partition "load" warps(4) registers(40) {
    tile.barrier_arrive %full[%i] : !tile.barrier<3>
    tile.yield
  }
  // CHECK: partition "multiply" warps(8) {
  partition "multiply" warps(8) {
    tile.barrier_wait %full[%i] : !tile.barrier<3>
    tile.yield
  }
  // CHECK: tile.print "here"
  tile.print "here"
  // CHECK: tile.print "x = {}, {}", %{{.*}}, %{{.*}} {here} : index, index
  tile.print "x = {}, {}", %i, %i {here} : index, index
  %ok = arith.cmpi ult, %i, %i : index
  // CHECK: tile.assert %{{.*}}, "in range" : i1
  tile.assert %ok, "in range" : i1
  tile.return
}

// CHECK-LABEL: tile.kernel @alone
tile.kernel @alone() {
  // CHECK: tile.warp_specialize
  // CHECK-NEXT: partition "only" warps(4) {
  tile.warp_specialize
  partition "only" warps(4) {
    tile.yield
  }
  tile.return
}

// One of several results, and one value captured twice, keep their names.
// CHECK-LABEL: tile.kernel @captures
tile.kernel @captures(%a: index, %c: i1) attributes {warps = 4 : i32} {
  // CHECK: %[[R:.*]]:2 = scf.if
  %r:2 = scf.if %c -> (index, index) {
    scf.yield %a, %a : index, index
  } else {
    scf.yield %a, %a : index, index
  }
  // CHECK: captures(%[[R]]#1, %[[R]]#0, %[[R]]#1 : index, index, index)
  tile.warp_specialize captures(%r#1, %r#0, %r#1 : index, index, index)
  partition "only" warps(4) {
    // CHECK: arith.subi %[[R]]#1, %[[R]]#0
    %s = arith.subi %r#1, %r#0 : index
    tile.print "x = {}", %s : index
    tile.yield
  }
  tile.return
}

// Tensor memory as the accumulator: no result, a barrier instead.
#tensor = #tile.layout<offset [128:d1, 128:d0]>
// CHECK-LABEL: tile.kernel @tensor_memory
tile.kernel @tensor_memory(%i: index) attributes {warps = 4 : i32} {
  %A = tile.alloc : !tile.buffer<128x32xf16, #rows, shared>
  %B = tile.alloc : !tile.buffer<32x128xf16, #cols, shared>
  %C = tile.alloc : !tile.buffer<128x128xf32, #tensor, tmem>
  %bar = tile.alloc : !tile.barrier<1>
  // CHECK: tile.mma_async %{{.*}}, %{{.*}}, %{{.*}} atom "tcgen05.m128n128k16" signals %{{.*}}[%{{.*}}] : !buffer{{.*}}, !buffer{{.*}}, !tile.barrier<1> -> !buffer
  tile.mma_async %A, %B, %C atom "tcgen05.m128n128k16" signals %bar[%i]
      : !tile.buffer<128x32xf16, #rows, shared>, !tile.buffer<32x128xf16, #cols, shared>, !tile.barrier<1> -> !tile.buffer<128x128xf32, #tensor, tmem>
  tile.return
}
