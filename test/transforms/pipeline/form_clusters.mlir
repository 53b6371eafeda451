// RUN: %tile_opt %s --split-input-file --tile-form-clusters='remarks=true' 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: %tile_opt %s --split-input-file --tile-form-clusters --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT
// COUNT-DAG: 1 clusters
// COUNT-DAG: 1 shared

#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
!slot = !tile.buffer<64x64xf16, #s, shared>
!ring = !tile.buffer<64x64xf16, #s, shared, stages = 2>
!view = !tile.view<64x64xf16>
!barrier = !tile.barrier<2>

// Programs p and p + 1 have rows 2 (p / 8) + p mod 2 of tiles of A and one column of B: each copies B for both in turn.
// The multiplying partition arrives at both programs' barriers.
// CHECK-LABEL: tile.kernel private @product
// CHECK: %[[FULL:.*]] = tile.alloc : !tile.barrier<2>
// CHECK: %[[EMPTY:.*]] = tile.alloc : !tile.barrier<2, arrivals = 2>
// CHECK: tile.warp_specialize captures(%{{.*}}%[[EMPTY]]{{.*}}!tile.barrier<2, arrivals = 2>
// CHECK: tile.copy_async %{{.*}} engine "tma" signals
// CHECK: %[[PLACE:.*]] = arith.remui %{{.*}}, %[[TWO:.*]] : index
// CHECK: %[[TURN:.*]] = arith.remui %{{.*}}, %[[TWO]] : index
// CHECK: %[[MINE:.*]] = arith.cmpi eq, %[[TURN]], %[[PLACE]] : index
// CHECK: scf.if %[[MINE]] {
// CHECK-NEXT: tile.copy_async %{{.*}} engine "tma" multicast [0] signals
// CHECK: partition "multiply"
// CHECK: tile.barrier_arrive %{{.*}} multicast [0] : !tile.barrier<2, arrivals = 2>
// CHECK: tile.launch @product grid(%{{.*}}) cluster [2] ins
tile.kernel private @product(%a: memref<256x256xf16>, %b: memref<256x256xf16>)
    attributes {machine = #tile.machine<"sm_90a">, schedule = #tile.schedule<cluster = [2]>, warps = 8 : i32} {
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %p = tile.program_id 0
  %pair = arith.divui %p, %c8 : index
  %first = arith.muli %pair, %c2 : index
  %inside = arith.remui %p, %c8 : index
  %place = arith.remui %inside, %c2 : index
  %i = arith.addi %first, %place : index
  %j = arith.divui %inside, %c2 : index
  %A = tile.view %a : memref<256x256xf16> to !view
  %B = tile.view %b : memref<256x256xf16> to !view
  %As = tile.alloc : !ring
  %Bs = tile.alloc : !ring
  %full = tile.alloc : !barrier
  %empty = tile.alloc : !barrier
  tile.warp_specialize captures(%A, %B, %As, %Bs, %full, %empty, %i, %j
      : !view, !view, !ring, !ring, !barrier, !barrier, index, index)
  partition "load" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %stages = arith.constant 2 : index
    %nk = arith.constant 4 : index
    scf.for %k = %c0 to %nk step %c1 {
      %free = arith.subi %k, %stages : index
      tile.barrier_wait %empty[%free] : !barrier
      tile.barrier_arrive %full[%k] expect 16384 : !barrier
      %x = tile.slot %As[%k] : !ring
      tile.copy_async %A[%i, %k] to %x engine "tma" signals %full[%k] : !view to !slot, !barrier
      %w = tile.slot %Bs[%k] : !ring
      tile.copy_async %B[%k, %j] to %w engine "tma" signals %full[%k] : !view to !slot, !barrier
    }
    tile.yield
  }
  partition "multiply" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %nk = arith.constant 4 : index
    scf.for %k = %c0 to %nk step %c1 {
      tile.barrier_wait %full[%k] : !barrier
      tile.barrier_arrive %empty[%k] : !barrier
    }
    tile.yield
  }
  tile.return
}
func.func @main(%a: memref<256x256xf16>, %b: memref<256x256xf16>) {
  %c16 = arith.constant 16 : index
  tile.launch @product grid(%c16) ins(%a : memref<256x256xf16>) outs(%b : memref<256x256xf16>)
  return
}

// -----

// The number of rounds differs between neighbours.
// REMARK: remark: forms no clusters: its programs may go through different rounds
// CHECK-LABEL: tile.kernel private @triangle
// CHECK-NOT: multicast
// CHECK: tile.launch @triangle grid(%{{.*}}) ins
#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
tile.kernel private @triangle(%a: memref<256x256xf16>, %b: memref<256x256xf16>)
    attributes {machine = #tile.machine<"sm_90a">, schedule = #tile.schedule<cluster = [2]>, warps = 4 : i32} {
  %p = tile.program_id 0
  %A = tile.view %a : memref<256x256xf16> to !tile.view<64x64xf16>
  %As = tile.alloc : !tile.buffer<64x64xf16, #s, shared, stages = 2>
  %full = tile.alloc : !tile.barrier<2>
  tile.warp_specialize captures(%A, %As, %full, %p
      : !tile.view<64x64xf16>, !tile.buffer<64x64xf16, #s, shared, stages = 2>, !tile.barrier<2>, index)
  partition "load" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %k = %c0 to %p step %c1 {
      tile.barrier_arrive %full[%k] expect 8192 : !tile.barrier<2>
      %x = tile.slot %As[%k] : !tile.buffer<64x64xf16, #s, shared, stages = 2>
      tile.copy_async %A[%c0, %k] to %x engine "tma" signals %full[%k] : !tile.view<64x64xf16> to !tile.buffer<64x64xf16, #s, shared>, !tile.barrier<2>
    }
    tile.yield
  }
  tile.return
}
func.func @main(%a: memref<256x256xf16>, %b: memref<256x256xf16>) {
  %c16 = arith.constant 16 : index
  tile.launch @triangle grid(%c16) ins(%a : memref<256x256xf16>) outs(%b : memref<256x256xf16>)
  return
}

// -----

// REMARK: remark: forms no clusters: its grid is not known to be a multiple of the cluster
// CHECK-LABEL: tile.kernel private @odd
tile.kernel private @odd(%b: memref<256x256xf16>)
    attributes {machine = #tile.machine<"sm_90a">, schedule = #tile.schedule<cluster = [2]>, warps = 4 : i32} {
  tile.return
}
func.func @main(%b: memref<256x256xf16>) {
  %c15 = arith.constant 15 : index
  tile.launch @odd grid(%c15) outs(%b : memref<256x256xf16>)
  return
}

// -----

// REMARK: remark: forms no clusters: the machine has no clusters of so many programs
// CHECK-LABEL: tile.kernel private @old
tile.kernel private @old(%b: memref<256x256xf16>)
    attributes {machine = #tile.machine<"sm_80">, schedule = #tile.schedule<cluster = [2]>, warps = 4 : i32} {
  tile.return
}
func.func @main(%b: memref<256x256xf16>) {
  %c16 = arith.constant 16 : index
  tile.launch @old grid(%c16) outs(%b : memref<256x256xf16>)
  return
}
