// Each malformed #tile.schedule is refused: an unknown key lists the known ones.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

// expected-error@below {{unknown key 'blok' in #tile.schedule, expected one of kind, block, warp, atom, warps, stages, group, registers, split, cluster, specialize, register, cache, panels, convert, codes}}
func.func private @a() attributes {tile.schedule = #tile.schedule<blok = [1]>}

// -----

// expected-error@below {{expected '['}}
func.func private @a() attributes {tile.schedule = #tile.schedule<block = 1>}

// -----

// expected-error@below {{'block' has 0 numbers, expected 1 to 12}}
func.func private @a() attributes {tile.schedule = #tile.schedule<block = []>}

// -----

// expected-error@below {{'block' holds 0, expected numbers of at least 1}}
func.func private @a() attributes {tile.schedule = #tile.schedule<block = [0]>}

// -----

// expected-error@below {{'block' holds 9223372036854775807, expected numbers of at most 2147483647}}
func.func private @a() attributes {tile.schedule = #tile.schedule<block = [20, 9223372036854775807]>}

// -----

// expected-error@below {{'stages' is 0, expected at least 1}}
func.func private @a() attributes {tile.schedule = #tile.schedule<stages = 0>}

// -----

// expected-error@below {{'stages' is given twice}}
func.func private @a() attributes {tile.schedule = #tile.schedule<stages = 1, stages = 2>}

// -----

// expected-error@below {{'atom' is not a string}}
func.func private @a() attributes {tile.schedule = #tile.schedule<atom = 3>}

// -----

// expected-error@below {{'kind' is not a string}}
func.func private @a() attributes {tile.schedule = #tile.schedule<kind = 3>}

// -----

// expected-error@below {{'convert' is "l1", expected one of register, shared, memory}}
func.func private @a() attributes {tile.schedule = #tile.schedule<convert = "l1">}

// -----

// expected-error@below {{'codes' is not a #tile.layout}}
func.func private @a() attributes {tile.schedule = #tile.schedule<codes = "apart">}

// -----

// expected-error@below {{'codes' is a layout of values, expected one of offsets: #tile.layout<offset […]>}}
func.func private @a() attributes {tile.schedule = #tile.schedule<codes = #tile.layout<reg [2:d0]>>}

// -----

// expected-error@below {{'codes' is no order of 8 codes: }}
func.func private @a() attributes {tile.schedule = #tile.schedule<codes = #tile.layout<offset [4:d0*2, 2:d0*2]>>}
