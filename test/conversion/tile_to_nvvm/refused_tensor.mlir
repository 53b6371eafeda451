// What tensor memory and its products cannot do is named at the op, with the value seen and the value wanted.
// RUN: %tile_opt %s --split-input-file --convert-tile-to-nvvm --verify-diagnostics
#tm = #tile.layout<offset [64:d1, 128:d0]>
tile.kernel @none() attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  // expected-error@+1 {{'tile.alloc' needs a machine with tensor memory; sm_90a has none}}
  %c = tile.alloc : !tile.buffer<128x64xf32, #tm, tmem>
  tile.return
}

// -----
#tm = #tile.layout<offset [512:d1, 128:d0]>
// expected-error@+1 {{needs 1024 columns of tensor memory, expected at most sm_100a's 512}}
tile.kernel @columns() attributes {machine = #tile.machine<"sm_100a">, warps = 4 : i32} {
  %c = tile.alloc : !tile.buffer<128x512xf32, #tm, tmem, stages = 2>
  tile.return
}

// -----
#tm = #tile.layout<offset [64:d1, 128:d0]>
tile.kernel @elements() attributes {machine = #tile.machine<"sm_100a">, warps = 4 : i32} {
  // expected-error@+1 {{a buffer in tensor memory of elements other than 16 or 32 bits}}
  %c = tile.alloc : !tile.buffer<128x64xi8, #tm, tmem>
  tile.return
}

// -----
#tm = #tile.layout<offset [64:d1, 128:d0]>
#r = #tile.layout<reg [64:d1], lane [32:d0], warp [4:d0*32]>
tile.kernel @early(%x: memref<128x64xf32>) attributes {machine = #tile.machine<"sm_100a">, warps = 4 : i32, ordered} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128x64xf32> to !tile.view<128x64xf32>
  %c = tile.alloc at 0 address 0 : !tile.buffer<128x64xf32, #tm, tmem>
  // expected-error@+1 {{uses tensor memory, and no tile.sync lies between its tile.alloc and here}}
  %t = tile.load %c : !tile.buffer<128x64xf32, #tm, tmem> -> tensor<128x64xf32, #r>
  tile.store %t, %X[%c0, %c0] : tensor<128x64xf32, #r>, !tile.view<128x64xf32>
  tile.return
}

// -----
#tm = #tile.layout<offset [64:d1, 128:d0]>
tile.kernel @place() attributes {machine = #tile.machine<"sm_100a">, warps = 4 : i32, ordered} {
  // expected-error@+1 {{address: none; tensor memory needs a place in shared memory for its address}}
  %c = tile.alloc at 0 : !tile.buffer<128x64xf32, #tm, tmem>
  tile.return
}

// -----
#tm = #tile.layout<offset [64:d1, 128:d0]>
#r = #tile.layout<reg [64:d0], lane [32:d1], warp [2:d0*64, 2:d1*32]>
tile.kernel @store() attributes {machine = #tile.machine<"sm_100a">, warps = 4 : i32} {
  %c = tile.alloc : !tile.buffer<128x64xf32, #tm, tmem>
  %z = arith.constant dense<0.0> : tensor<128x64xf32, #r>
  // expected-error@+1 {{stores to tensor memory in a layout that its warps cannot reach}}
  tile.store %z, %c : tensor<128x64xf32, #r>, !tile.buffer<128x64xf32, #tm, tmem>
  tile.return
}

// -----
#tm = #tile.layout<offset [64:d1, 128:d0]>
#r = #tile.layout<reg [64:d1], lane [32:d0], warp [4:d0*32]>
tile.kernel @halves(%x: memref<128x64xf16>) attributes {machine = #tile.machine<"sm_100a">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128x64xf16> to !tile.view<128x64xf16>
  %c = tile.alloc : !tile.buffer<128x64xf16, #tm, tmem>
  // expected-error@+1 {{a load from tensor memory of elements other than 32 bits}}
  %t = tile.load %c : !tile.buffer<128x64xf16, #tm, tmem> -> tensor<128x64xf16, #r>
  tile.store %t, %X[%c0, %c0] : tensor<128x64xf16, #r>, !tile.view<128x64xf16>
  tile.return
}

// -----
#sb = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
#tm = #tile.layout<offset [64:d1, 128:d0]>
#other = #tile.layout<offset [128:d0, 64:d1]>
tile.kernel @left(%i: index) attributes {machine = #tile.machine<"sm_100a">, warps = 4 : i32} {
  %a = tile.alloc : !tile.buffer<128x64xf16, #other, tmem>
  %b = tile.alloc : !tile.buffer<64x64xf16, #sb, shared>
  %c = tile.alloc : !tile.buffer<128x64xf32, #tm, tmem>
  %done = tile.alloc : !tile.barrier<1>
  // expected-error@+1 {{lhs does not suit atom "tcgen05.m128n64k16" in tensor memory: expected 128 rows in lanes, and neighbours of a row in neighbouring columns}}
  tile.mma_async %a, %b, %c atom "tcgen05.m128n64k16" signals %done[%i]
      : !tile.buffer<128x64xf16, #other, tmem>, !tile.buffer<64x64xf16, #sb, shared>, !tile.barrier<1> -> !tile.buffer<128x64xf32, #tm, tmem>
  tile.return
}

// -----
#tm = #tile.layout<offset [64:d1, 128:d0]>
#r = #tile.layout<reg [64:d0], lane [32:d1], warp [2:d0*64, 2:d1*32]>
tile.kernel @layout(%x: memref<128x64xf32>) attributes {machine = #tile.machine<"sm_100a">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128x64xf32> to !tile.view<128x64xf32>
  %c = tile.alloc : !tile.buffer<128x64xf32, #tm, tmem>
  // expected-error@+1 {{loads from tensor memory in a layout that its warps cannot reach}}
  %t = tile.load %c : !tile.buffer<128x64xf32, #tm, tmem> -> tensor<128x64xf32, #r>
  tile.store %t, %X[%c0, %c0] : tensor<128x64xf32, #r>, !tile.view<128x64xf32>
  tile.return
}

// -----
#tm = #tile.layout<offset [64:d1, 128:d0]>
#r = #tile.layout<reg [64:d1], lane [32:d0], warp [4:d0*32]>
tile.kernel @partition(%x: memref<128x64xf32>) attributes {machine = #tile.machine<"sm_100a">, warps = 6 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128x64xf32> to !tile.view<128x64xf32>
  %c = tile.alloc : !tile.buffer<128x64xf32, #tm, tmem>
  %b = tile.alloc : !tile.barrier<1>
  tile.warp_specialize captures(%X, %c, %b : !tile.view<128x64xf32>, !tile.buffer<128x64xf32, #tm, tmem>, !tile.barrier<1>)
  partition "one" warps(2) {
    %0 = arith.constant 0 : index
    tile.barrier_arrive %b[%0] : !tile.barrier<1>
    tile.yield
  }
  partition "two" warps(4) {
    %0 = arith.constant 0 : index
    tile.barrier_wait %b[%0] : !tile.barrier<1>
    // expected-error@+1 {{in a partition that begins at warp 2, expected a multiple of 4}}
    %t = tile.load %c : !tile.buffer<128x64xf32, #tm, tmem> -> tensor<128x64xf32, #r>
    tile.store %t, %X[%0, %0] : tensor<128x64xf32, #r>, !tile.view<128x64xf32>
    tile.yield
  }
  tile.return
}

// -----
#sa = #tile.layout<offset [64:d1, 8:d0+d1*8, 16:d0*8]>
#sb = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
#tm = #tile.layout<offset [128:d0, 64:d1]>
tile.kernel @sums(%i: index) attributes {machine = #tile.machine<"sm_100a">, warps = 4 : i32} {
  %a = tile.alloc : !tile.buffer<128x64xf16, #sa, shared>
  %b = tile.alloc : !tile.buffer<64x64xf16, #sb, shared>
  %c = tile.alloc : !tile.buffer<128x64xf32, #tm, tmem>
  %done = tile.alloc : !tile.barrier<1>
  // expected-error@+1 {{accumulator does not suit atom "tcgen05.m128n64k16": expected rows in lanes of tensor memory}}
  tile.mma_async %a, %b, %c atom "tcgen05.m128n64k16" signals %done[%i]
      : !tile.buffer<128x64xf16, #sa, shared>, !tile.buffer<64x64xf16, #sb, shared>, !tile.barrier<1> -> !tile.buffer<128x64xf32, #tm, tmem>
  tile.return
}

// -----
#sa = #tile.layout<offset [64:d1, 8:d0+d1*8, 16:d0*8]>
#sb = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
#tm = #tile.layout<offset [64:d1, 128:d0]>
tile.kernel @atom(%i: index) attributes {machine = #tile.machine<"sm_100a">, warps = 4 : i32} {
  %a = tile.alloc : !tile.buffer<128x64xf16, #sa, shared>
  %b = tile.alloc : !tile.buffer<64x64xf16, #sb, shared>
  %c = tile.alloc : !tile.buffer<128x64xf32, #tm, tmem>
  %done = tile.alloc : !tile.barrier<1>
  // expected-error@+1 {{has atom "mma.sync.m16n8k16", which does not run by itself; expected a "tcgen05.…"}}
  tile.mma_async %a, %b, %c atom "mma.sync.m16n8k16" signals %done[%i]
      : !tile.buffer<128x64xf16, #sa, shared>, !tile.buffer<64x64xf16, #sb, shared>, !tile.barrier<1> -> !tile.buffer<128x64xf32, #tm, tmem>
  tile.return
}
