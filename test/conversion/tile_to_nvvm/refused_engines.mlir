// What the engines of sm_90a cannot do is named at the op, with the value seen and the value wanted.
// RUN: %tile_opt %s --split-input-file --convert-tile-to-nvvm=chip=sm_90a --verify-diagnostics
#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>

tile.kernel @unaligned(%x: memref<64x64xf16>) attributes {warps = 4 : i32} {
  %0 = arith.constant 0 : index
  %X = tile.view %x : memref<64x64xf16> to !tile.view<64x64xf16>
  %b = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  %full = tile.alloc : !tile.barrier<1>
  // expected-error@+1 {{begins at multiples of 2 bytes for all that is known; engine "tma" needs multiples of 16}}
  tile.copy_async %X[%0, %0] to %b engine "tma" signals %full[%0] : !tile.view<64x64xf16> to !tile.buffer<64x64xf16, #s, shared>, !tile.barrier<1>
  tile.return
}

// -----
#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
tile.kernel @stride(%x_: memref<64x?xf16>) attributes {warps = 4 : i32} {
  %0 = arith.constant 0 : index
  %x = tile.assume %x_ align 16 strides [4, 1] : memref<64x?xf16>
  %X = tile.view %x : memref<64x?xf16> to !tile.view<64x64xf16>
  %b = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  %full = tile.alloc : !tile.barrier<1>
  // expected-error@+1 {{stride of dimension 0 is a multiple of 8 bytes for all that is known; engine "tma" needs multiples of 16}}
  tile.copy_async %X[%0, %0] to %b engine "tma" signals %full[%0] : !tile.view<64x64xf16> to !tile.buffer<64x64xf16, #s, shared>, !tile.barrier<1>
  tile.return
}

// -----
#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
tile.kernel @apart(%x_: memref<64x64xf16, strided<[64, ?]>>) attributes {warps = 4 : i32} {
  %0 = arith.constant 0 : index
  %x = tile.assume %x_ align 16 : memref<64x64xf16, strided<[64, ?]>>
  %X = tile.view %x : memref<64x64xf16, strided<[64, ?]>> to !tile.view<64x64xf16>
  %b = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  %full = tile.alloc : !tile.barrier<1>
  // expected-error@+1 {{last dimension is not known to be contiguous}}
  tile.copy_async %X[%0, %0] to %b engine "tma" signals %full[%0] : !tile.view<64x64xf16> to !tile.buffer<64x64xf16, #s, shared>, !tile.barrier<1>
  tile.return
}

// -----
#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
tile.kernel @subview(%x_: memref<128x64xf16>) attributes {warps = 4 : i32} {
  %0 = arith.constant 0 : index
  %y = memref.subview %x_[64, 0] [64, 64] [1, 1] : memref<128x64xf16> to memref<64x64xf16, strided<[64, 1], offset: 4096>>
  %x = tile.assume %y align 16 : memref<64x64xf16, strided<[64, 1], offset: 4096>>
  %X = tile.view %x : memref<64x64xf16, strided<[64, 1], offset: 4096>> to !tile.view<64x64xf16>
  %b = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  %full = tile.alloc : !tile.barrier<1>
  // expected-error@+1 {{memory that is not an unchanged parameter of the kernel}}
  tile.copy_async %X[%0, %0] to %b engine "tma" signals %full[%0] : !tile.view<64x64xf16> to !tile.buffer<64x64xf16, #s, shared>, !tile.barrier<1>
  tile.return
}

// -----
#s = #tile.layout<offset [64:d0, 64:d1]>
tile.kernel @no_box(%x_: memref<64x64xf16>) attributes {warps = 4 : i32} {
  %0 = arith.constant 0 : index
  %x = tile.assume %x_ align 16 : memref<64x64xf16>
  %X = tile.view %x : memref<64x64xf16> to !tile.view<64x64xf16>
  %b = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  %full = tile.alloc : !tile.barrier<1>
  // expected-error@+1 {{the buffer's layout does not suit engine "tma": no box of a tensor fills it: 1 neighbours along d1}}
  tile.copy_async %X[%0, %0] to %b engine "tma" signals %full[%0] : !tile.view<64x64xf16> to !tile.buffer<64x64xf16, #s, shared>, !tile.barrier<1>
  tile.return
}

// -----
#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
tile.kernel @padding(%x_: memref<64x64xf16>) attributes {warps = 4 : i32} {
  %0 = arith.constant 0 : index
  %x = tile.assume %x_ align 16 : memref<64x64xf16>
  %X = tile.view %x : memref<64x64xf16> to !tile.view<64x64xf16, pad = neg_inf>
  %b = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  %full = tile.alloc : !tile.barrier<1>
  // expected-error@+1 {{pads with neg_inf; engine "tma" fills with zero or nan}}
  tile.copy_async %X[%0, %0] to %b engine "tma" signals %full[%0] : !tile.view<64x64xf16, pad = neg_inf> to !tile.buffer<64x64xf16, #s, shared>, !tile.barrier<1>
  tile.return
}

// -----
#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
tile.kernel @token(%x_: memref<64x64xf16>) attributes {warps = 4 : i32} {
  %0 = arith.constant 0 : index
  %x = tile.assume %x_ align 16 : memref<64x64xf16>
  %X = tile.view %x : memref<64x64xf16> to !tile.view<64x64xf16>
  %b = tile.alloc : !tile.buffer<64x64xf16, #s, shared>
  // expected-error@+1 {{copies into a buffer by engine "tma", which must signal a barrier}}
  %t = tile.copy_async %X[%0, %0] to %b engine "tma" : !tile.view<64x64xf16> to !tile.buffer<64x64xf16, #s, shared>
  tile.wait %t
  tile.return
}

// -----
#s = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
tile.kernel @place(%x_: memref<64x64xf16>) attributes {warps = 4 : i32} {
  %0 = arith.constant 0 : index
  %x = tile.assume %x_ align 16 : memref<64x64xf16>
  %X = tile.view %x : memref<64x64xf16> to !tile.view<64x64xf16>
  %b = tile.alloc at 512 : !tile.buffer<64x64xf16, #s, shared>
  %full = tile.alloc at 16384 : !tile.barrier<1>
  // expected-error@+1 {{a buffer that begins at multiples of 512 bytes in stages of 8192; its swizzle of 128 bytes needs multiples of 1024}}
  tile.copy_async %X[%0, %0] to %b engine "tma" signals %full[%0] : !tile.view<64x64xf16> to !tile.buffer<64x64xf16, #s, shared>, !tile.barrier<1>
  tile.return
}

// -----
#acc = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16]>
#plain = #tile.layout<offset [64:d1, 64:d0]>
tile.kernel @descriptor() attributes {warps = 4 : i32} {
  %a = tile.alloc : !tile.buffer<64x64xf16, #plain, shared>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
  // expected-error@+1 {{lhs does not suit atom "wgmma.m64n64k16": no descriptor says its layout}}
  %u = tile.mma_async %a, %a, %zero atom "wgmma.m64n64k16"
      : !tile.buffer<64x64xf16, #plain, shared>, !tile.buffer<64x64xf16, #plain, shared> -> tensor<64x64xf32, #acc>
  %v = tile.mma_wait %u pending 0 : tensor<64x64xf32, #acc>
  tile.return
}

// -----
tile.kernel @threads() attributes {warps = 6 : i32} {
  // expected-error@+1 {{a partition of warps whose number is not a power of two}}
  tile.warp_specialize captures() partition "a" warps(3) { tile.yield } partition "b" warps(3) { tile.yield }
  tile.return
}

// -----
tile.kernel @groups() attributes {warps = 8 : i32} {
  // expected-error@+1 {{gives partition #1, which begins at warp 2 and has 4, registers of its own; expected whole groups of 4 warps}}
  tile.warp_specialize captures() partition "a" warps(2) { tile.yield } partition "b" warps(4) registers(64) { tile.yield }
  tile.return
}

// -----
tile.kernel @unequal() attributes {warps = 8 : i32, registers = 128 : i32} {
  // expected-error@+1 {{gives partition #0, which begins at warp 0 and has 2, registers of its own; expected whole groups of 4 warps, or partitions of one group with equal registers}}
  tile.warp_specialize captures() partition "a" warps(2) registers(40) { tile.yield } partition "b" warps(2) registers(64) { tile.yield } partition "c" warps(4) { tile.yield }
  tile.return
}

// -----
tile.kernel @grain() attributes {warps = 8 : i32} {
  // expected-error@+1 {{gives partition #0 20 registers a thread; expected a multiple of 8 from 24 to 256}}
  tile.warp_specialize captures() partition "a" warps(4) registers(20) { tile.yield } partition "b" warps(4) { tile.yield }
  tile.return
}

// -----
#acc = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16, 2:d0*64]>
#fa = #tile.layout<reg [2:d1, 2:d0*8, 2:d1*8, 4:d1*16, 2:d0*64], lane [4:d1*2, 8:d0], warp [4:d0*16, 2:_]>
#sb = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
tile.kernel @rows(%x: memref<128x64xf16>) attributes {warps = 8 : i32} {
  %0 = arith.constant 0 : index
  %X = tile.view %x : memref<128x64xf16> to !tile.view<128x64xf16>
  %a = tile.load %X[%0, %0] : !tile.view<128x64xf16> -> tensor<128x64xf16, #fa>
  %b = tile.alloc : !tile.buffer<64x64xf16, #sb, shared>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32, #acc>
  // expected-error@+1 {{lhs is spread over warps in another way than the accumulator}}
  %u = tile.mma_async %a, %b, %zero atom "wgmma.m64n64k16"
      : tensor<128x64xf16, #fa>, !tile.buffer<64x64xf16, #sb, shared> -> tensor<128x64xf32, #acc>
  %v = tile.mma_wait %u pending 0 : tensor<128x64xf32, #acc>
  tile.return
}

// -----
#acc = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16]>
#sb = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
tile.kernel @half_sums() attributes {warps = 4 : i32} {
  %b = tile.alloc : !tile.buffer<64x64xf16, #sb, shared>
  %zero = arith.constant dense<0.0> : tensor<64x64xf16, #acc>
  // expected-error@+1 {{not converted to nvvm yet: atom "wgmma.m64n64k16" on these types}}
  %u = tile.mma_async %b, %b, %zero atom "wgmma.m64n64k16"
      : !tile.buffer<64x64xf16, #sb, shared>, !tile.buffer<64x64xf16, #sb, shared> -> tensor<64x64xf16, #acc>
  %v = tile.mma_wait %u pending 0 : tensor<64x64xf16, #acc>
  tile.return
}

// -----
tile.kernel @one_thread(%x: memref<64xf32>) attributes {warps = 4 : i32} {
  tile.warp_specialize captures(%x : memref<64xf32>)
  partition "all" warps(4) threads(1) {
    %0 = arith.constant 0 : index
    %X = tile.view %x : memref<64xf32> to !tile.view<64xf32>
    // expected-error@+1 {{divides elements among threads, but its partition has `threads(1)`; remove that}}
    %v = tile.load %X[%0] : !tile.view<64xf32> -> tensor<64xf32, #tile.layout<lane [32:d0], warp [2:d0*32, 2:_]>>
    tile.yield
  }
  tile.return
}

// -----
tile.kernel @share() attributes {warps = 4 : i32} {
  %0 = arith.constant 0 : index
  %full = tile.alloc arrivals 6 : !tile.barrier<1>
  // expected-error@+1 {{arrivals: 6 of each partition cannot be divided among the 4 warps that arrive here}}
  tile.barrier_arrive %full[%0] : !tile.barrier<1>
  tile.return
}

// -----
tile.kernel @uncounted() attributes {warps = 4 : i32, ordered} {
  // expected-error@+1 {{arrivals: none; a barrier needs the number that completes a round (tile-count-waits writes it)}}
  %full = tile.alloc at 0 : !tile.barrier<1>
  tile.return
}

// -----
// expected-error@+1 {{registers: none; a kernel whose partitions change their registers needs the number that they start with}}
tile.kernel @registers() attributes {warps = 8 : i32, ordered} {
  tile.warp_specialize
  partition "few" warps(4) registers(40) {
    tile.yield
  }
  partition "many" warps(4) registers(232) {
    tile.yield
  }
  tile.return
}
