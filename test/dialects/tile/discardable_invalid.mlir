// What ops of other dialects may carry under our name.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

// expected-error@below {{'func.func' op unknown attribute 'tile.schedul', expected tile.schedule, tile.schedules, tile.extents, tile.machine, tile.cache, tile.latency, tile.overwrites, tile.initial, tile.final, tile.tensor_maps, tile.source, tile.kernel_texts, tile.host_access, tile.depth or tile.rounds_ahead}}
func.func private @a() attributes {tile.schedul = 3}

// -----

// expected-error@below {{'func.func' op attribute 'tile.schedule' is 3 : i64, expected a #tile.schedule}}
func.func private @a() attributes {tile.schedule = 3}

// -----

// expected-error@below {{'func.func' op attribute 'tile.latency' is -1 : i64, expected a positive integer: cycles that a load is expected to take}}
func.func private @a() attributes {tile.latency = -1}

// -----

// expected-error@below {{unknown attribute 'layuot' in dialect 'tile'}}
func.func private @a() attributes {x = #tile.layuot<lane [4:d0]>}
