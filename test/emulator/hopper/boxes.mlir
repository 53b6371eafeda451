// Boxes of a tensor come by TMA, are changed by threads, and go back by TMA: right at odd sizes, and the same as the
// interpreter's.
// RUN: %tile_run %s --target=emulate:sm_90a --check-against=interpret --size=328 --stats=%t.json 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=STATS < %t.json
// RUN: %tile_run %s --target=emulate:sm_90a --check-against=interpret --size=8 --seed=3 | FileCheck %s
// CHECK: ; 0 of {{[1-9][0-9]*}} elements wrong
// STATS: "global_bytes_read": 215168
// STATS: "global_bytes_written": 215168
// STATS: "async_copies": 72

#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
#r = #tile.layout<reg [8:d1, 4:d0*16], lane [8:d1*8, 4:d0], warp [4:d0*4]>

tile.kernel @doubled(%x_: memref<?x?xf16>, %y_: memref<?x?xf16>) attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.assume %x_ align 16 strides [8, 1] : memref<?x?xf16>
  %y = tile.assume %y_ align 16 strides [8, 1] : memref<?x?xf16>
  %X = tile.view %x : memref<?x?xf16> to !tile.view<64x64xf16>
  %Y = tile.view %y : memref<?x?xf16> to !tile.view<64x64xf16>
  %n = tile.num_tiles %X dim 1 : !tile.view<64x64xf16>
  %s = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  %full = tile.alloc : !tile.barrier<1>
  scf.for %j = %c0 to %n step %c1 {
    tile.barrier_arrive %full[%j] expect 8192 : !tile.barrier<1>
    tile.copy_async %X[%i, %j] to %s engine "tma" signals %full[%j]
        : !tile.view<64x64xf16> to !tile.buffer<64x64xf16, #s, shared>, !tile.barrier<1>
    tile.barrier_wait %full[%j] : !tile.barrier<1>
    %t = tile.load %s : !tile.buffer<64x64xf16, #s, shared> -> tensor<64x64xf16, #r>
    %u = arith.addf %t, %t : tensor<64x64xf16, #r>
    tile.sync
    tile.store %u, %s : tensor<64x64xf16, #r>, !tile.buffer<64x64xf16, #s, shared>
    tile.fence async
    tile.sync
    %out = tile.copy_async %s to %Y[%i, %j] engine "tma" : !tile.buffer<64x64xf16, #s, shared> to !tile.view<64x64xf16>
    tile.wait %out
    tile.sync
  }
  tile.return
}

func.func @main(%x: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf16>
  %n = tensor.dim %x, %c1 : tensor<?x?xf16>
  %rows = arith.constant 64 : index
  %g = arith.ceildivui %m, %rows : index
  %e = tensor.empty(%m, %n) : tensor<?x?xf16>
  %r = tile.launch @doubled grid(%g) ins(%x : tensor<?x?xf16>) outs(%e : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}
