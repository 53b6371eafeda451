// Each malformed #tile.machine is refused: unknown names list the known ones.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

// expected-error@below {{unknown machine 'sm_1000'; known: gfx1100, gfx1201, gfx90a, gfx942, gfx950, graniterapids, haswell, native, sapphirerapids, skylake-avx512, sm_100a, sm_120a, sm_80, sm_86, sm_89, sm_90a, x86-64, x86-64-v3, x86-64-v4, znver3, znver4, znver5}}
func.func private @a() attributes {tile.machine = #tile.machine<"sm_1000">}

// -----

// expected-error@below {{machine sm_80: override of unknown key 'shared.bites'}}
func.func private @a() attributes {tile.machine = #tile.machine<"sm_80", "shared.bites" = 3>}

// -----

// expected-error@below {{machine sm_80: override of key 'shared.bytes': expected a positive integer below 10^15, found 'many'}}
func.func private @a() attributes {tile.machine = #tile.machine<"sm_80", "shared.bytes" = "many">}

// -----

// expected-error@below {{override 'shared.bytes' is neither an integer nor a string}}
func.func private @a() attributes {tile.machine = #tile.machine<"sm_80", "shared.bytes" = 1.5>}

// -----

// expected-error@below {{'warps' is given twice}}
func.func private @a() attributes {tile.machine = #tile.machine<"sm_80", warps = 1, warps = 2>}

// -----

// expected-error@below {{the name of a machine is not a string: #tile.machine<"sm_90a">}}
func.func private @a() attributes {tile.machine = #tile.machine<3>}
