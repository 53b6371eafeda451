// What products, reductions, scans, sorts and conversions must not say.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

tile.func private @f(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %c: tensor<4xf32>) {
  // expected-error @+1 {{'tile.mma' op the accumulator's rank is 1, expected 2 to 3}}
  %d = tile.mma %a, %b, %c : tensor<4x8xf16>, tensor<8x4xf16> -> tensor<4xf32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<8xf16>, %b: tensor<8x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma' op lhs has rank 1 (tensor<8xf16>), expected 2, the accumulator's}}
  %d = tile.mma %a, %b, %c : tensor<8xf16>, tensor<8x4xf16> -> tensor<4x4xf32>
  tile.return
}

// -----

// expected-note @+1 {{the other one is defined here}}
tile.func private @f(%a: tensor<4x8xf16>, %b: tensor<16x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma' op axis 0 of rhs has size 16, expected 8, axis 1 of lhs}}
  %d = tile.mma %a, %b, %c : tensor<4x8xf16>, tensor<16x4xf16> -> tensor<4x4xf32>
  tile.return
}

// -----

// expected-note @+1 {{the other one is defined here}}
tile.func private @f(%a: tensor<2x4x8xf16>, %b: tensor<3x8x4xf16>, %c: tensor<2x4x4xf32>) {
  // expected-error @+1 {{'tile.mma' op axis 0 of rhs has size 3, expected 2, axis 0 of accumulator}}
  %d = tile.mma %a, %b, %c : tensor<2x4x8xf16>, tensor<3x8x4xf16> -> tensor<2x4x4xf32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4x8xf16>, %b: tensor<8x4xbf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma' op multiplies f16 by bf16 into f32, expected one of}}
  %d = tile.mma %a, %b, %c : tensor<4x8xf16>, tensor<8x4xbf16> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma' op multiplies i8 by i8 into f32, expected one of}}
  %d = tile.mma %a, %b, %c : tensor<4x8xi8>, tensor<8x4xi8> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma' op has precision tf32x3 for f16, expected it for f32 only}}
  %d = tile.mma %a, %b, %c precision tf32x3 : tensor<4x8xf16>, tensor<8x4xf16> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma' op has an atom but no layouts, expected no atom before layouts are assigned}}
  %d = tile.mma %a, %b, %c atom "mma.sync.m16n8k16" : tensor<4x8xf16>, tensor<8x4xf16> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma' op has atom vdpbf16ps, which multiplies bf16 into f32, for f16 into f32}}
  %d = tile.mma %a, %b, %c atom "vdpbf16ps" : tensor<4x8xf16>, tensor<8x4xf16> -> tensor<4x4xf32>
  tile.return
}

// -----

#l = #tile.layout<reg [4:d1, 4:d0]>
tile.kernel @k(%m: memref<f32>) {
  %a = arith.constant dense<1> : tensor<4x4xi8, #l>
  %c = arith.constant dense<1> : tensor<4x4xi32, #l>
  // expected-error @+1 {{'tile.mma' op has layouts and atom vpdpbusd, expected no layouts: it is a CPU's}}
  %d = tile.mma %a, %a, %c atom "vpdpbusd" : tensor<4x4xi8, #l>, tensor<4x4xi8, #l> -> tensor<4x4xi32, #l>
  tile.return
}

// -----

#l = #tile.layout<reg [4:d1, 4:d0]>
tile.kernel @k(%m: memref<f32>) {
  %a = arith.constant dense<1.0> : tensor<4x4xf16, #l>
  %c = arith.constant dense<1.0> : tensor<4x4xf32, #l>
  // expected-error @+1 {{'tile.mma' op has layouts but no atom, expected the instruction whose fragments they are}}
  %d = tile.mma %a, %a, %c : tensor<4x4xf16, #l>, tensor<4x4xf16, #l> -> tensor<4x4xf32, #l>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4x6xf16>, %p: tensor<4x1xi8>, %b: tensor<12x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma_sparse' op rhs has 12 rows, expected a multiple of 8: a byte of places is for as many}}
  %d = tile.mma_sparse %a at %p, %b, %c : tensor<4x6xf16>, tensor<4x1xi8>, tensor<12x4xf16> -> tensor<4x4xf32>
  tile.return
}

// -----

// expected-note @+1 {{the right factor is defined here}}
tile.func private @f(%a: tensor<4x16xf16>, %p: tensor<4x2xi8>, %b: tensor<16x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma_sparse' op lhs has shape 4x16, expected 4x8, as 2 of 4 of 16 are kept}}
  %d = tile.mma_sparse %a at %p, %b, %c : tensor<4x16xf16>, tensor<4x2xi8>, tensor<16x4xf16> -> tensor<4x4xf32>
  tile.return
}

// -----

// expected-note @+1 {{the right factor is defined here}}
tile.func private @f(%a: tensor<4x8xf16>, %p: tensor<4x8xi8>, %b: tensor<16x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma_sparse' op places has shape 4x8, expected 4x2, as 2 of 4 of 16 are kept}}
  %d = tile.mma_sparse %a at %p, %b, %c : tensor<4x8xf16>, tensor<4x8xi8>, tensor<16x4xf16> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4x8xf16>, %p: tensor<4x2xi32>, %b: tensor<16x4xf16>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma_sparse' op places has elements of type i32, expected i8}}
  %d = tile.mma_sparse %a at %p, %b, %c : tensor<4x8xf16>, tensor<4x2xi32>, tensor<16x4xf16> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4x8xf16>, %p: tensor<4x2xi8>, %b: tensor<16x4xf16>, %c: tensor<4x4xi32>) {
  // expected-error @+1 {{'tile.mma_sparse' op multiplies f16 by f16 into i32}}
  %d = tile.mma_sparse %a at %p, %b, %c : tensor<4x8xf16>, tensor<4x2xi8>, tensor<16x4xf16> -> tensor<4x4xi32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<2x4x8xf16>, %p: tensor<2x4x2xi8>, %b: tensor<2x16x4xf16>, %c: tensor<2x4x4xf32>) {
  // expected-error @+1 {{'tile.mma_sparse' op the accumulator's rank is 3, expected 2}}
  %d = tile.mma_sparse %a at %p, %b, %c : tensor<2x4x8xf16>, tensor<2x4x2xi8>, tensor<2x16x4xf16> -> tensor<2x4x4xf32>
  tile.return
}

// -----

#a = #tile.layout<reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]>
#p = #tile.layout<reg [2:d1, 2:d0*8], lane [4:_, 8:d0]>
#b = #tile.layout<reg [2:d0, 2:d0*8], lane [4:d0*2, 8:d1]>
#c = #tile.layout<reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]>
// expected-note @+1 {{the machine is named here}}
tile.kernel @k(%m: memref<f32>) attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x8xf16, #a>
  %p = arith.constant dense<68> : tensor<16x2xi8, #p>
  %b = arith.constant dense<1.0> : tensor<16x8xf16, #b>
  %c = arith.constant dense<1.0> : tensor<16x8xf32, #c>
  // expected-error @+1 {{'tile.mma_sparse' op has atom mma.sync.m16n8k16, which multiplies dense left factors}}
  %d = tile.mma_sparse %a at %p, %b, %c atom "mma.sync.m16n8k16" : tensor<16x8xf16, #a>, tensor<16x2xi8, #p>, tensor<16x8xf16, #b> -> tensor<16x8xf32, #c>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4x64xf8E4M3FN>, %s: tensor<4x2xf8E8M0FNU>, %b: tensor<64x4xf8E4M3FN>,
                     %t: tensor<2x4xf8E8M0FNU>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma_scaled' op block is 64, expected 16 or 32}}
  %d = tile.mma_scaled %a scale %s, %b scale %t, %c block 64 : tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>, tensor<64x4xf8E4M3FN>, tensor<2x4xf8E8M0FNU> -> tensor<4x4xf32>
  tile.return
}

// -----

// expected-note @+1 {{what it scales is defined here}}
tile.func private @f(%a: tensor<4x64xf8E4M3FN>, %s: tensor<4x4xf8E8M0FNU>, %b: tensor<64x4xf8E4M3FN>,
                     %t: tensor<2x4xf8E8M0FNU>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma_scaled' op lhs_scale has shape 4x4, expected that of lhs, 4x64, with axis 1 divided by the block, 32}}
  %d = tile.mma_scaled %a scale %s, %b scale %t, %c block 32 : tensor<4x64xf8E4M3FN>, tensor<4x4xf8E8M0FNU>, tensor<64x4xf8E4M3FN>, tensor<2x4xf8E8M0FNU> -> tensor<4x4xf32>
  tile.return
}

// -----

// expected-note @+1 {{what it scales is defined here}}
tile.func private @f(%a: tensor<4x64xf8E4M3FN>, %s: tensor<4x2xf32>, %b: tensor<64x4xf8E4M3FN>,
                     %t: tensor<2x4xf8E8M0FNU>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{lhs_scale has shape 4x2, expected that of lhs, 4x64, with axis 1 divided by the block, 32, times 2 for scales of f32}}
  %d = tile.mma_scaled %a scale %s, %b scale %t, %c block 32 : tensor<4x64xf8E4M3FN>, tensor<4x2xf32>, tensor<64x4xf8E4M3FN>, tensor<2x4xf8E8M0FNU> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4x64xf8E4M3FN>, %s: tensor<4x2xf16>, %b: tensor<64x4xf8E4M3FN>,
                     %t: tensor<2x4xf8E8M0FNU>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma_scaled' op lhs_scale has elements of type f16, expected f8E8M0FNU, f8E4M3FN or f32}}
  %d = tile.mma_scaled %a scale %s, %b scale %t, %c block 32 : tensor<4x64xf8E4M3FN>, tensor<4x2xf16>, tensor<64x4xf8E4M3FN>, tensor<2x4xf8E8M0FNU> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4x64xbf16>, %s: tensor<4x2xf8E8M0FNU>, %b: tensor<64x4xf8E4M3FN>,
                     %t: tensor<2x4xf8E8M0FNU>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma_scaled' op lhs has elements of type bf16, expected floats of 8 bits or fewer, or f16}}
  %d = tile.mma_scaled %a scale %s, %b scale %t, %c block 32 : tensor<4x64xbf16>, tensor<4x2xf8E8M0FNU>, tensor<64x4xf8E4M3FN>, tensor<2x4xf8E8M0FNU> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.func private @f(%a: tensor<4x40xf8E4M3FN>, %s: tensor<4x2xf8E8M0FNU>, %b: tensor<40x4xf8E4M3FN>,
                     %t: tensor<2x4xf8E8M0FNU>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tile.mma_scaled' op axis 1 of lhs has size 40, expected a multiple of the block, 32}}
  %d = tile.mma_scaled %a scale %s, %b scale %t, %c block 32 : tensor<4x40xf8E4M3FN>, tensor<4x2xf8E8M0FNU>, tensor<40x4xf8E4M3FN>, tensor<2x4xf8E8M0FNU> -> tensor<4x4xf32>
  tile.return
}

// -----

tile.func private @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.reduce' op names no axes, expected at least one}}
  %r = tile.reduce {arith.addf} %x axes [] : tensor<4x8xf32> -> tensor<4x8xf32>
  tile.return
}

// -----

tile.func private @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.reduce' op axes has 2, expected 0 to 1}}
  %r = tile.reduce {arith.addf} %x axes [2] : tensor<4x8xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.func private @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.reduce' op axes has 0 after 1, expected ascending order}}
  %r = tile.reduce {arith.addf} %x axes [1, 0] : tensor<4x8xf32> -> f32
  tile.return
}

// -----

// expected-note @+1 {{the input is defined here}}
tile.func private @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.reduce' op the result has shape 8, expected the input's, 4x8, without its axes}}
  %r = tile.reduce {arith.addf} %x axes [1] : tensor<4x8xf32> -> tensor<8xf32>
  tile.return
}

// -----

// expected-note @+1 {{the other one is defined here}}
tile.func private @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tile.reduce' op the result has elements of type f16, expected those of the input, f32}}
  %r = tile.reduce {arith.addf} %x axes [1] : tensor<4x8xf32> -> tensor<4xf16>
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.reduce' op combines by 'arith.subf', expected one of arith.addf, addi, mulf}}
  %r = tile.reduce {arith.subf} %x axes [0] : tensor<8xf32> -> f32
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xi32>) {
  // expected-error @+1 {{'tile.reduce' op combines i32 by arith.addf, expected float elements}}
  %r = tile.reduce {arith.addf} %x axes [0] : tensor<8xi32> -> i32
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.reduce' op combines 2 inputs by one op, expected a region}}
  %r:2 = tile.reduce {arith.addf} %x, %x axes [0] : tensor<8xf32>, tensor<8xf32> -> f32, f32
  tile.return
}

// -----

// expected-note @+1 {{the other one is defined here}}
tile.func private @f(%x: tensor<8xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'tile.reduce' op an input has shape 4 (tensor<4xf32>), expected the shape of the first input, 8 (tensor<8xf32>)}}
  %r:2 = tile.reduce {arith.addf} %x, %y axes [0] : tensor<8xf32>, tensor<4xf32> -> f32, f32
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.reduce' op has 2 results, expected 1, one per input}}
  %r:2 = tile.reduce {arith.addf} %x axes [0] : tensor<8xf32> -> f32, f32
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.reduce' op has neither a combining op nor a region, expected either a combining op or a region}}
  %r = tile.reduce %x axes [0] : tensor<8xf32> -> f32
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.reduce' op has a combining op and a region, expected either a combining op or a region}}
  %r = tile.reduce {arith.addf} %x axes [0] : tensor<8xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.reduce' op has a region but no neutral element, expected 1, one per input}}
  %r = tile.reduce %x axes [0] : tensor<8xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.reduce' op has 2 neutral elements, expected 1, one per input}}
  %r = tile.reduce %x axes [0] neutral [0.0 : f32, 0.0 : f32] : tensor<8xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.reduce' op neutral element #0 is of type i32, expected the input's, f32}}
  %r = tile.reduce %x axes [0] neutral [0 : i32] : tensor<8xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.reduce' op its region has 1 arguments, expected 2: the left elements, then the right ones}}
  %r = tile.reduce %x axes [0] neutral [0.0 : f32] : tensor<8xf32> -> f32 {
  ^bb0(%a: f32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.reduce' op argument #1 of its region is i32, expected the input's element, f32}}
  %r = tile.reduce %x axes [0] neutral [0.0 : f32] : tensor<8xf32> -> f32 {
  ^bb0(%a: f32, %b: i32):
    tile.yield %a : f32
  }
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>, %m: memref<f32>) {
  // expected-note @+1 {{the region belongs to this op}}
  %r = tile.reduce %x axes [0] neutral [0.0 : f32] : tensor<8xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    // expected-error @+1 {{'memref.load' op stands in a combining region, expected pure ops only}}
    %c = memref.load %m[] : memref<f32>
    tile.yield %c : f32
  }
  tile.return
}

// -----

#l = #tile.layout<reg [4:d1], lane [4:d0]>
#r = #tile.layout<reg [4:d0]>
tile.kernel @k(%m: memref<f32>) {
  // expected-note @+1 {{the other layout is given here}}
  %x = arith.constant dense<1.0> : tensor<4x4xf32, #l>
  // expected-error @+1 {{'tile.reduce' op has a tile of layout <reg [4:d0]>, expected <lane [4:d0]>: no data moves here (tile.convert_layout does that)}}
  %r = tile.reduce {arith.addf} %x axes [1] : tensor<4x4xf32, #l> -> tensor<4xf32, #r>
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.scan' op axis is 1, expected 0 to 0}}
  %r = tile.scan {arith.addf} %x axis 1 : tensor<8xf32>
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>, %i: f32) {
  // expected-error @+1 {{'tile.scan' op has 2 initial states, expected none or 1, one per input}}
  %r:3 = tile.scan {arith.addf} %x init %i, %i axis 0 : tensor<8xf32>, f32, f32
  tile.return
}

// -----

// expected-note @+1 {{the input is defined here}}
tile.func private @f(%x: tensor<8x4xf32>, %i: tensor<8xf32>) {
  // expected-error @+1 {{'tile.scan' op the initial state has shape 8, expected the input's, 8x4, without its axes}}
  %r:2 = tile.scan {arith.addf} %x init %i axis 0 : tensor<8x4xf32>, tensor<8xf32>
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.sort' op axis is -1, expected 0 to 0}}
  %r = tile.sort %x axis -1 : tensor<8xf32>
  tile.return
}

// -----

tile.func private @f() {
  // expected-error @+1 {{'tile.sort' op has no input, expected at least one tile}}
  "tile.sort"() <{axis = 0 : i64}> : () -> ()
  tile.return
}

// -----

// expected-note @+1 {{the input is defined here}}
tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.topk' op result #0 has shape 9, expected the input's, 8, with at most as much along axis 0, equally much in every result}}
  %r = tile.topk %x axis 0 : tensor<8xf32> -> tensor<9xf32>
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.topk' op has 2 results, expected 1, one per input}}
  %r:2 = tile.topk %x axis 0 : tensor<8xf32> -> tensor<2xf32>, tensor<2xf32>
  tile.return
}

// -----

tile.func private @f(%x: tensor<8x2xi32>) {
  // expected-error @+1 {{'tile.histogram' op the input is tensor<8x2xi32>, expected a tile of rank 1}}
  %r = tile.histogram %x : tensor<8x2xi32> -> tensor<4xi32>
  tile.return
}

// -----

// expected-note @+1 {{the counter is defined here}}
tile.func private @f(%s: i64, %c: tensor<8xindex>) {
  // expected-error @+1 {{'tile.random' op the result has shape 8x2, expected the counter's, 8, and a last axis of 4 words}}
  %r = tile.random %s, %c : i64, tensor<8xindex> -> tensor<8x2xi32>
  tile.return
}

// -----

tile.func private @f(%s: i64, %c: tensor<8xf32>) {
  // expected-error @+1 {{'tile.random' op the counter is tensor<8xf32>, expected integer or index elements}}
  %r = tile.random %s, %c : i64, tensor<8xf32> -> tensor<8x4xi32>
  tile.return
}

// -----

tile.func private @f(%s: i64, %c: tensor<8xindex>) {
  // expected-error @+1 {{'tile.random' op the result has elements of type f32, expected i32}}
  %r = tile.random %s, %c : i64, tensor<8xindex> -> tensor<8x4xf32>
  tile.return
}

// -----

tile.func private @f(%x: f32) {
  // expected-error @+1 {{'tile.convert_type' op converts f32 to itself}}
  %y = tile.convert_type %x saturate : f32 -> f32
  tile.return
}

// -----

// expected-note @+1 {{the input is defined here}}
tile.func private @f(%x: f32) {
  // expected-error @+1 {{'tile.convert_type' op converts f32 to f16 as arith.truncf does, expected that op instead}}
  %y = tile.convert_type %x : f32 -> f16
  tile.return
}

// -----

// expected-note @+1 {{the input is defined here}}
tile.func private @f(%x: f16) {
  // expected-error @+1 {{'tile.convert_type' op converts f16 to f32 as arith.extf does, expected that op instead}}
  %y = tile.convert_type %x saturate : f16 -> f32
  tile.return
}

// -----

// expected-note @+1 {{the other one is defined here}}
tile.func private @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tile.convert_type' op the result has shape 8 (tensor<8xi8>), expected the shape of the input, 4 (tensor<4xf32>)}}
  %y = tile.convert_type %x saturate : tensor<4xf32> -> tensor<8xi8>
  tile.return
}

// -----

tile.func private @f(%x: f32) {
  // expected-error @+1 {{'tile.convert_type' op rounds stochastically without random bits, expected a tile of i32}}
  %y = tile.convert_type %x rounding stochastic : f32 -> f16
  tile.return
}

// -----

tile.func private @f(%x: f32, %b: i32) {
  // expected-error @+1 {{'tile.convert_type' op has random bits, expected them for stochastic rounding only}}
  %y = tile.convert_type %x saturate rounding down %b : f32 -> f8E4M3FN
  tile.return
}

// -----

tile.func private @f(%x: f32, %b: i32) {
  // expected-error @+1 {{'tile.convert_type' op rounds f32 to i8 stochastically, expected floats}}
  %y = tile.convert_type %x rounding stochastic %b : f32 -> i8
  tile.return
}
