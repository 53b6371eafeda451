// Each malformed text of !tile.view, !tile.buffer, !tile.barrier and !tile.token is refused where it stands.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

// expected-error@below {{size 1 of a view is 0, expected at least 1}}
func.func private @a(!tile.view<4x0xf32>)

// -----

// expected-error@below {{expected static shape}}
func.func private @a(!tile.view<4x?xf32>)

// -----

// expected-error@below {{'steps' has 2 numbers, expected one per axis: 1}}
func.func private @a(!tile.view<4xf32, steps = [1, 1]>)

// -----

// expected-error@below {{'steps' of axis 0 is 0, expected 1 to 2147483647}}
func.func private @a(!tile.view<4xf32, steps = [0]>)

// -----

// expected-error@below {{'order' is not a permutation of the 2 axes}}
func.func private @a(!tile.view<4x4xf32, order = [1, 1]>)

// -----

// expected-error@below {{unknown padding 'none', expected one of zero, neg_zero, nan, inf, neg_inf}}
func.func private @a(!tile.view<4xf32, pad = none>)

// -----

// expected-error@below {{padding 'nan' of elements of type 'i32', expected 'zero' for what is not a float}}
func.func private @a(!tile.view<4xi32, pad = nan>)

// -----

// expected-error@below {{unknown key 'stepz' in !tile.view, expected steps, strides, order, pad or packed}}
func.func private @a(!tile.view<4xf32, stepz = [1]>)

// -----

// expected-error@below {{'steps' is given twice}}
func.func private @a(!tile.view<4xf32, steps = [1], steps = [1]>)

// -----

// expected-error@below {{element of a view is 'tensor<2xf32>', expected an integer, index or float}}
func.func private @a(!tile.view<4xtensor<2xf32>>)

// -----

// expected-error@below {{'packed' is not a #tile.layout}}
func.func private @a(!tile.view<4xi4, packed = 3>)

// -----

// expected-error@below {{'packed' is a layout of values, expected one of offsets: #tile.layout<offset […]>}}
func.func private @a(!tile.view<4xi4, packed = #tile.layout<lane [4:d0]>>)

// -----

// expected-error@below {{unbalanced '<' character in pretty dialect name}}
func.func private @a(!tile.view<4xi4)

// -----

// expected-error@below {{at most 8 dimensions are allowed}}
func.func private @a(!tile.view<1x1x1x1x1x1x1x1x1xi4>)

// -----

// expected-error@below {{expected ','}}
func.func private @a(!tile.buffer<4xf32>)

// -----

// expected-error@below {{unknown memory level of a buffer 'global', expected one of shared, local, tmem}}
func.func private @a(!tile.buffer<4xf32, #tile.layout<offset [4:d0]>, global>)

// -----

// expected-error@below {{the buffer's layout does not fit its shape: the layout reaches coordinate 7 of axis 0, which has size 4}}
func.func private @a(!tile.buffer<4xf32, #tile.layout<offset [8:d0]>, shared>)

// -----

// expected-error@below {{a buffer has a layout of values, expected one of offsets: #tile.layout<offset […]>}}
func.func private @a(!tile.buffer<4xf32, #tile.layout<lane [4:d0]>, shared>)

// -----

// expected-error@below {{second parameter of a buffer is not a #tile.layout}}
func.func private @a(!tile.buffer<4xf32, 5, shared>)

// -----

// expected-error@below {{a buffer has -1 stages, expected at least 1}}
func.func private @a(!tile.buffer<4xf32, #tile.layout<offset [4:d0]>, shared, stages = -1>)

// -----

// expected-error@below {{expected 'stages'}}
func.func private @a(!tile.buffer<4xf32, #tile.layout<offset [4:d0]>, shared, stage = 1>)

// -----

// expected-error@below {{a ring of 0 barriers, expected at least 1}}
func.func private @a(!tile.barrier<0>)

// -----

// expected-error@below {{a barrier waits for 0 arrivals, expected at least 1}}
func.func private @a(!tile.barrier<1, arrivals = 0>)

// -----

// expected-error@below {{expected integer value}}
func.func private @a(!tile.barrier<x>)

// -----

// expected-error@below {{!tile.token takes no parameters}}
func.func private @a(!tile.token<3>)

// -----

// expected-error@below {{unknown type 'tokn' in dialect 'tile'}}
func.func private @a(!tile.tokn)

// -----

// expected-error@below {{'strides' of axis 0 is 9223372036854775807, expected 1 to 2147483647}}
func.func private @a(!tile.view<4xf32, strides = [9223372036854775807]>)

// -----

// expected-error@below {{a view has more than 2147483647 elements}}
func.func private @a(!tile.view<65536x65536xf32>)

// -----

// expected-error@below {{size 0 of a view is 0, expected at least 1}}
func.func private @a(!tile.view<0x4xf32>)

// -----

// expected-error@below {{expected valid keyword}}
func.func private @a(!tile<"3">)
