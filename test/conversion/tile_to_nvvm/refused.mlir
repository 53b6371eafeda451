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
