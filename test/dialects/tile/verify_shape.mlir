// What the ops that move elements without computing must not say.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

tile.func private @f() {
  // expected-error @+1 {{'tile.iota' op the result is tensor<8xf32>, expected integer or index elements}}
  %r = tile.iota dim 0 : tensor<8xf32>
  tile.return
}

// -----

tile.func private @f() {
  // expected-error @+1 {{'tile.iota' op dim is 1, expected 0 to 0}}
  %r = tile.iota dim 1 : tensor<8xi32>
  tile.return
}

// -----

tile.func private @f(%x: f32) {
  // expected-error @+1 {{'tile.broadcast' op names axes, expected none: all axes of a broadcast scalar are new}}
  %r = tile.broadcast %x axes [0] : f32 -> tensor<8xf32>
  tile.return
}

// -----

// expected-note @+1 {{the source is defined here}}
tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.broadcast' op the result has shape 8x4, expected one that is the source's, 8, without the named axes}}
  %r = tile.broadcast %x axes [0] : tensor<8xf32> -> tensor<8x4xf32>
  tile.return
}

// -----

// expected-note @+1 {{the other one is defined here}}
tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.broadcast' op the result has elements of type f16, expected those of the source, f32}}
  %r = tile.broadcast %x axes [1] : tensor<8xf32> -> tensor<8x4xf16>
  tile.return
}

// -----

#wide = #tile.layout<reg [4:d1], lane [4:d0]>
#narrow = #tile.layout<reg [4:d0]>
tile.kernel @k() {
  %x = arith.constant dense<1.0> : tensor<4xf32, #narrow>
  // expected-note @+2 {{the other layout is given here}}
  // expected-error @+1 {{'tile.broadcast' op has a tile of layout <reg [4:d0]>, expected <lane [4:d0]>: no data moves here (tile.convert_layout does that)}}
  %r = tile.broadcast %x axes [1] : tensor<4xf32, #narrow> -> tensor<4x4xf32, #wide>
  tile.return
}

// -----

// expected-note @+1 {{the source is defined here}}
tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.reshape' op the result has 6 elements (2x3), expected the source's 8 (8)}}
  %r = tile.reshape %x : tensor<8xf32> -> tensor<2x3xf32>
  tile.return
}

// -----

#l = #tile.layout<reg [16:d0]>
#r = #tile.layout<reg [4:d0, 4:d1]>
tile.kernel @k() {
  // expected-note @+1 {{the other layout is given here}}
  %x = arith.constant dense<1.0> : tensor<16xf32, #l>
  // expected-error @+1 {{'tile.reshape' op has a tile of layout <reg [4:d0, 4:d1]>, expected <reg [4:d1, 4:d0]>: no data moves here (tile.convert_layout does that)}}
  %r = tile.reshape %x : tensor<16xf32, #l> -> tensor<4x4xf32, #r>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.reshape' op makes !tile.buffer<8xf32, #tile.layout<offset [8:d0]>, local> of tensor<8xf32>, expected a tile of a tile or a buffer of a buffer}}
  %r = tile.reshape %x : tensor<8xf32> -> !tile.buffer<8xf32, #o, local>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.kernel @k() {
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
  // expected-error @+1 {{'tile.reshape' op the result lies in local, expected the source's level, shared: no data moves}}
  %r = tile.reshape %b : !tile.buffer<8xf32, #o, shared> -> !tile.buffer<8xf32, #o, local>
  tile.return
}

// -----

tile.func private @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.transpose' op permutation has 1 entries, expected 2}}
  %r = tile.transpose %x [0] : tensor<4x8xf32> -> tensor<8x4xf32>
  tile.return
}

// -----

tile.func private @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.transpose' op permutation lacks 0, expected a permutation of 0 to 1}}
  %r = tile.transpose %x [1, 1] : tensor<4x8xf32> -> tensor<8x4xf32>
  tile.return
}

// -----

// expected-note @+1 {{the source is defined here}}
tile.func private @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.transpose' op the result has shape 4x8, expected the source's, 4x8, permuted}}
  %r = tile.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

#l = #tile.layout<reg [4:d1], lane [4:d0]>
tile.kernel @k() {
  // expected-note @+1 {{the other layout is given here}}
  %x = arith.constant dense<1.0> : tensor<4x4xf32, #l>
  // expected-error @+1 {{'tile.transpose' op has a tile of layout <reg [4:d1], lane [4:d0]>, expected <reg [4:d0], lane [4:d1]>: no data moves here (tile.convert_layout does that)}}
  %r = tile.transpose %x [1, 0] : tensor<4x4xf32, #l> -> tensor<4x4xf32, #l>
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xindex>) {
  // expected-error @+1 {{'tile.bitcast' op casts tensor<8xindex> to tensor<8xi8>, expected tiles whose elements have a known width}}
  %r = tile.bitcast %x : tensor<8xindex> -> tensor<8xi8>
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.bitcast' op keeps the width of 32 bits, expected another one: arith.bitcast says this}}
  %r = tile.bitcast %x : tensor<8xf32> -> tensor<8xi32>
  tile.return
}

// -----

// expected-note @+1 {{the source is defined here}}
tile.func private @f(%x: tensor<8xi8>) {
  // expected-error @+1 {{'tile.bitcast' op the result is tensor<8xi4>, expected as many bits along the last axis as tensor<8xi8> and no other change}}
  %r = tile.bitcast %x : tensor<8xi8> -> tensor<8xi4>
  tile.return
}

// -----

// expected-note @+1 {{the whole is defined here}}
tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.slice' op the part covers 4 elements from 6 on of axis 0, expected it within the whole's size, 8}}
  %r = tile.slice %x[6] : tensor<8xf32> -> tensor<4xf32>
  tile.return
}

// -----

// expected-note @+1 {{the whole is defined here}}
tile.func private @f(%x: tensor<8xf32>, %i: index) {
  // expected-error @+1 {{'tile.slice' op the part covers 9 elements from 0 on of axis 0, expected it within the whole's size, 8}}
  %r = tile.slice %x[%i] : tensor<8xf32> -> tensor<9xf32>
  tile.return
}

// -----

// expected-note @+1 {{the whole is defined here}}
tile.func private @f(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{'tile.slice' op has a part of rank 2 at 1 offsets, expected 2, the rank of the whole}}
  %r = tile.slice %x[0] : tensor<8x8xf32> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>, %i: index) {
  // expected-error @+1 {{'tile.slice' op has 1 dynamic offsets, expected 0}}
  %r = "tile.slice"(%x, %i) <{static_offsets = array<i64: 2>}> : (tensor<8xf32>, index) -> tensor<4xf32>
  tile.return
}

// -----

// expected-note @+1 {{the whole is defined here}}
tile.func private @f(%s: tensor<4xf32>, %x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.insert' op the part covers 4 elements from -1 on of axis 0, expected it within the whole's size, 8}}
  %r = tile.insert %s into %x[-1] : tensor<4xf32>, tensor<8xf32> -> tensor<8xf32>
  tile.return
}

// -----

// expected-note @+1 {{the other one is defined here}}
tile.func private @f(%s: tensor<4xf16>, %x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.insert' op the part has elements of type f16, expected those of the destination, f32}}
  %r = tile.insert %s into %x[0] : tensor<4xf16>, tensor<8xf32> -> tensor<8xf32>
  tile.return
}

// -----

// expected-note @+1 {{the piece is defined here}}
tile.func private @f(%a: tensor<4x2xf32>, %b: tensor<4x3xf32>) {
  // expected-error @+1 {{'tile.cat' op a piece has shape 4x3, expected the result's, 8x2, but along axis 0}}
  %r = tile.cat %a, %b axis 0 : tensor<4x2xf32>, tensor<4x3xf32> -> tensor<8x2xf32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tile.cat' op the result has size 9 along axis 0, expected the sum of the pieces', 8}}
  %r = tile.cat %a, %a axis 0 : tensor<4xf32>, tensor<4xf32> -> tensor<9xf32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4xf32>) {
  // expected-error @+1 {{'tile.cat' op axis is 2, expected 0 to 0}}
  %r = tile.cat %a, %a axis 2 : tensor<4xf32>, tensor<4xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.func private @f() {
  // expected-error @+1 {{'tile.cat' op the number of pieces is 0, expected at least 1}}
  %r = "tile.cat"() <{axis = 0 : i64}> : () -> tensor<8xf32>
  tile.return
}

// -----

// expected-note @+1 {{the whole is defined here}}
tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.slice' op the part covers 4 elements from 9223372036854775807 on of axis 0, expected it within the whole's size, 8}}
  %r = tile.slice %x[9223372036854775807] : tensor<8xf32> -> tensor<4xf32>
  tile.return
}
