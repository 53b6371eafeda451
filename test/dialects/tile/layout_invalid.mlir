// Each malformed #tile.layout, and each that does not fit its tensor, is refused where it stands.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

// expected-error@below {{unbalanced '[' character in pretty dialect name}}
func.func private @a(tensor<4xf32, #tile.layout<lane [4:d0>>)

// -----

// expected-error@below {{only reg and offset may have a size that is not a power of two, lane got a factor 3}}
func.func private @a(tensor<4xf32, #tile.layout<lane [3:d0]>>)

// -----

// expected-error@below {{the layout does not fit the tensor: the layout ends at coordinate 0 of axis 0, which has size 4}}
func.func private @a(tensor<4xf32, #tile.layout<lane [4:d1]>>)

// -----

// expected-error@below {{the layout does not fit the tensor: the layout ends at coordinate 0 of axis 1, which has size 4}}
func.func private @a(tensor<4x4xf32, #tile.layout<lane [4:d0]>>)

// -----

// expected-error@below {{a tensor with a layout has a dynamic size on axis 0, expected a static shape}}
func.func private @a(tensor<?xf32, #tile.layout<lane [4:d0]>>)

// -----

// expected-error@below {{a tensor's layout is one of memory offsets, expected one of reg, lane, warp and block}}
func.func private @a(tensor<4xf32, #tile.layout<offset [4:d0]>>)

// -----

// expected-error@below {{expected '>' or more of a layout: dim [size:d0*stride, …], …}}
func.func private @a(tensor<4xf32, #tile.layout<lane [4:d0^d1]>>)

// -----

// expected-error@below {{expected reg, lane, warp, block or offset, found the end of the layout}}
func.func private @a(tensor<4xf32, #tile.layout<>>)

// -----

// expected-error@below {{expected reg, lane, warp, block or offset, found 'thread'}}
func.func private @a(tensor<4xf32, #tile.layout<thread [4:d0]>>)

// -----

// The place is that of the token, whatever line it is on.
// expected-error@+2 {{expected a stride, found ']'}}
func.func private @a(tensor<8xf32, #tile.layout<reg [2:d0],
                                                lane [4:d0*]>>)

// -----

// expected-error@below {{integer value too large}}
func.func private @a(tensor<4xf32, #tile.layout<lane [99999999999999999999:d0]>>)

// -----

// expected-error@below {{expected a mode such as 8:d0, found '-'}}
func.func private @a(tensor<4xf32, #tile.layout<lane [-4:d0]>>)

// -----

// expected-error@below {{expected '>' or more of a layout: dim [size:d0*stride, …], …}}
func.func private @a(tensor<4xf32, #tile.layout<"lane [4:d0]">>)
