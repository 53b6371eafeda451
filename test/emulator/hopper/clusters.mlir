// A product by clusters of two programs: both need the same tiles of B, which one of them copies to both, in turn. Right
// at sizes that no tile divides, the same as the interpreter's, and each byte of B is read once for both.
// RUN: %tile_run %s --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=STATS < %t.json
// RUN: %tile_run %s --target=emulate:sm_90a --check-against=interpret --seed=5 | FileCheck %s
// RUN: %tile_translate %s --tile-to-ptx --chip=sm_90a -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// CHECK: result 0: right
// Each of the two columns of programs reads all of A, each of the two pairs in a column its part of B:
// 2 x 200 x 264 x 2 bytes and 2 x 264 x 72 x 2.
// STATS: "global_bytes_read": 287232
// STATS: "async_copies": 60
// PTX: .explicitcluster
// PTX-NEXT: .reqnctapercluster 2, 1, 1
// PTX-DAG: barrier.cluster.arrive
// PTX-DAG: .multicast::cluster
// Only products use what arrivals give back: scope cta does, which costs no fence of all memory.
// PTX-DAG: mbarrier.arrive.shared::cluster.b64

#acc = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16]>
#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
!a = !tile.buffer<64x64xf16, #s, shared>
!ring = !tile.buffer<64x64xf16, #s, shared, stages = 2>
!view = !tile.view<64x64xf16>
!out = !tile.view<64x64xf32>
!full = !tile.barrier<2>
!empty = !tile.barrier<2, arrivals = 2>

tile.kernel @gemm(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c: memref<?x?xf32>)
    attributes {machine = #tile.machine<"sm_90a">, warps = 8 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !view
  %B = tile.view %b : memref<?x?xf16> to !view
  %C = tile.view %c : memref<?x?xf32> to !out
  %nk = tile.num_tiles %A dim 1 : !view
  %As = tile.alloc : !ring
  %Bs = tile.alloc : !ring
  %full = tile.alloc : !full
  %empty = tile.alloc : !empty
  tile.warp_specialize captures(%A, %B, %C, %As, %Bs, %full, %empty, %i, %j, %nk
      : !view, !view, !out, !ring, !ring, !full, !empty, index, index, index)
  partition "load" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %place = arith.remui %i, %c2 : index
    scf.for %k = %c0 to %nk step %c1 {
      %free = arith.subi %k, %c2 : index
      tile.barrier_wait %empty[%free] : !empty
      tile.barrier_arrive %full[%k] expect 16384 : !full
      %x = tile.slot %As[%k] : !ring
      tile.copy_async %A[%i, %k] to %x engine "tma" signals %full[%k] : !view to !a, !full
      %turn = arith.remui %k, %c2 : index
      %mine = arith.cmpi eq, %turn, %place : index
      scf.if %mine {
        %w = tile.slot %Bs[%k] : !ring
        tile.copy_async %B[%k, %j] to %w engine "tma" multicast [0] signals %full[%k] : !view to !a, !full
      }
    }
    tile.yield
  }
  partition "multiply" warps(4) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<64x64xf32, #acc>) {
      %x = tile.slot %As[%k] : !ring
      %w = tile.slot %Bs[%k] : !ring
      tile.barrier_wait %full[%k] : !full
      %u = tile.mma_async %x, %w, %t atom "wgmma.m64n64k16" : !a, !a -> tensor<64x64xf32, #acc>
      %v = tile.mma_wait %u pending 0 : tensor<64x64xf32, #acc>
      tile.barrier_arrive %empty[%k] multicast [0] : !empty
      scf.yield %v : tensor<64x64xf32, #acc>
    }
    tile.store %acc, %C[%i, %j] : tensor<64x64xf32, #acc>, !out
    tile.yield
  }
  tile.return
}

func.func @main(%a: tensor<200x264xf16>, %b: tensor<264x72xf16>) -> tensor<200x72xf32> {
  %c4 = arith.constant 4 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<200x72xf32>
  %r = tile.launch @gemm grid(%c4, %c2) cluster [2, 1] ins(%a, %b : tensor<200x264xf16>, tensor<264x72xf16>)
      outs(%e : tensor<200x72xf32>) -> tensor<200x72xf32>
  return %r : tensor<200x72xf32>
}

// What a cluster may not be, at the op:
// RUN: sed 's/cluster \[2, 1\]/cluster [4, 4]/; s/grid(%c4, %c2)/grid(%c4, %c4)/' %s > %t.large.mlir
// RUN: not %tile_run %t.large.mlir --target=emulate:sm_90a 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.kernel' op has clusters of 16 programs; sm_90a has clusters of at most 8
// RUN: sed 's/cluster \[2, 1\]//' %s > %t.none.mlir
// RUN: not %tile_run %t.none.mlir --target=emulate:sm_90a 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.kernel' op reaches other programs of its cluster, but no launch
// RUN: sed 's/grid(%c4, %c2)/grid(%c3, %c2)/; s/%c4 = arith.constant 4/%c3 = arith.constant 3/' %s > %t.odd.mlir
// RUN: not %tile_run %t.odd.mlir --target=emulate:sm_90a 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: a grid of 3 blocks along axis 0, which is no multiple of the cluster's 2
// RUN: not %tile_run %s --target=emulate:sm_80 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: .mlir:{{[0-9]+:[0-9]+}}: error:
