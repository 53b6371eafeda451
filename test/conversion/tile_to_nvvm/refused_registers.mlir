// The machine file says how partitions change their registers, and how many have barriers.
// RUN: %tile_opt %s --split-input-file --convert-tile-to-nvvm --verify-diagnostics
module attributes {tile.machine = #tile.machine<"sm_90a", "registers.partition" = "32 128 16">} {
  tile.kernel @limits() attributes {warps = 8 : i32} {
    // expected-error@+1 {{gives partition #0 24 registers a thread; expected a multiple of 16 from 32 to 128}}
    tile.warp_specialize captures() partition "a" warps(4) registers(24) { tile.yield } partition "b" warps(4) { tile.yield }
    tile.return
  }
}

// -----
module attributes {tile.machine = #tile.machine<"sm_90a", "registers.partition" = "24 256">} {
  tile.kernel @numbers() attributes {warps = 8 : i32} {
    // expected-error@+1 {{gives partition #1 40 registers a thread, but the machine key registers.partition of sm_90a has 2 numbers; expected the least, the most and their grain}}
    tile.warp_specialize captures() partition "a" warps(4) { tile.yield } partition "b" warps(4) registers(40) { tile.yield }
    tile.return
  }
}

// -----
module attributes {tile.machine = #tile.machine<"sm_90a", "barriers.per_block" = "2">} {
  tile.kernel @barriers() attributes {warps = 2 : i32} {
    // expected-error@+1 {{has 2 partitions; sm_90a has barriers for 1}}
    tile.warp_specialize captures() partition "a" warps(1) { tile.yield } partition "b" warps(1) { tile.yield }
    tile.return
  }
}
