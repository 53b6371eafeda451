// What cannot be converted is named at the op, with the reason; nothing crashes.
// RUN: %tile_opt %s --split-input-file --convert-tile-to-nvvm=chip=sm_80 --verify-diagnostics
#l = #tile.layout<reg [2:d0], lane [32:d0*2]>

tile.kernel @no_layouts(%x: memref<?xf32>) attributes {warps = 1 : i32} {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<64xf32>
  // expected-error@+1 {{gives a tile without a layout, expected a scheduled kernel}}
  %a = tile.load %X[%i] : !tile.view<64xf32> -> tensor<64xf32>
  tile.return
}

// -----
tile.kernel @barrier() attributes {warps = 1 : i32} {
  // expected-error@+1 {{'tile.alloc' needs a machine with barriers in memory (engine "tma"); sm_80 has none}}
  %b = tile.alloc : !tile.barrier<2>
  tile.return
}

// -----
tile.kernel @specialize() attributes {warps = 2 : i32} {
  // expected-error@+1 {{'tile.warp_specialize' needs a machine with barriers in memory}}
  tile.warp_specialize captures() partition "a" warps(1) { tile.yield } partition "b" warps(1) { tile.yield }
  tile.return
}

// -----
// expected-error@+1 {{a number of warps that is not a power of two}}
tile.kernel @warps() attributes {warps = 3 : i32} {
  tile.return
}

// -----
#s = #tile.layout<offset [131072:d0]>
// expected-error@+1 {{needs 524288 bytes of shared memory, expected at most sm_80's 166912}}
tile.kernel @too_much() attributes {warps = 1 : i32} {
  %b = tile.alloc : !tile.buffer<131072xf32, #s, shared>
  tile.return
}

// -----
#swizzled = #tile.layout<offset [32:d1, 8:d0+d1, 4:d0*8]>
#part = #tile.layout<offset [32:d1, 8:d0]>
tile.kernel @swizzled_slice(%i: index) attributes {warps = 1 : i32} {
  %b = tile.alloc : !tile.buffer<32x32xf32, #swizzled, local>
  // expected-error@+1 {{a slice of a buffer whose elements do not lie at equal strides along each axis}}
  %s = tile.slice %b[%i, 0] : !tile.buffer<32x32xf32, #swizzled, local> -> !tile.buffer<8x32xf32, #part, local>
  tile.return
}

// -----
#rows = #tile.layout<offset [32:d1, 32:d0]>
#part = #tile.layout<offset [32:d1, 8:d0]>
#turned = #tile.layout<offset [32:d0, 8:d1]>
tile.kernel @turned_slice(%i: index) attributes {warps = 1 : i32} {
  %b = tile.alloc : !tile.buffer<32x32xf32, #rows, local>
  %s = tile.slice %b[%i, 0] : !tile.buffer<32x32xf32, #rows, local> -> !tile.buffer<8x32xf32, #part, local>
  // expected-error@+1 {{a slice of a buffer, whose elements lie apart, where the op needs a whole one}}
  %t = tile.transpose %s [1, 0] : !tile.buffer<8x32xf32, #part, local> -> !tile.buffer<32x8xf32, #turned, local>
  tile.return
}
