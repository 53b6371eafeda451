// What a kernel as a whole must not hold: ops of other levels, tensors that are no tiles, layouts on some tiles only.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

// expected-note @+1 {{in this one}}
tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tensor.extract_slice' op cannot stand in a tile.func: it would lose layouts silently: use tile.slice, insert, cat, reshape, broadcast}}
  %r = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  tile.return
}

// -----

// expected-note @+1 {{in this one}}
tile.kernel @k(%m: memref<4xf32>, %x: f32) {
  // expected-error @+1 {{'linalg.fill' op cannot stand in a tile.kernel: it belongs to the tensor program: use tile.mma, tile.reduce and arith}}
  linalg.fill ins(%x : f32) outs(%m : memref<4xf32>)
  tile.return
}

// -----

// expected-note @+1 {{in this one}}
tile.kernel @k(%m: memref<4xf32>) {
  // expected-error @+1 {{'memref.alloc' op cannot stand in a tile.kernel: only dim, load, store, subview, cast, get_global and addresses: use tile.view, tile.load and tile.store}}
  %a = memref.alloc() : memref<4xf32>
  tile.return
}

// -----

func.func private @f()
// expected-note @+1 {{in this one}}
tile.kernel @k() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    // expected-error @+1 {{'func.call' op cannot stand in a tile.kernel: it belongs to the host: use tile.func and tile.call}}
    func.call @f() : () -> ()
  }
  tile.return
}

// -----

// expected-note @+1 {{in this one}}
tile.kernel @k(%n: index, %m: memref<f32>) {
  // expected-error @+1 {{'tile.launch' op cannot stand in a tile.kernel: it belongs to the host}}
  tile.launch @l grid(%n) outs(%m : memref<f32>)
  tile.return
}
tile.kernel private @l(memref<f32>)

// -----

// expected-note @+1 {{in this kernel}}
tile.kernel @k(%c: i1) {
  // expected-error @+1 {{'arith.constant' op has a value of type tensor<f32>, expected static sizes and rank at least 1: tiles have them, and what has rank 0 is a scalar}}
  %x = arith.constant dense<1.0> : tensor<f32>
  tile.return
}

// -----

// expected-note @+1 {{in this kernel}}
tile.kernel @k(%c: i1) {
  // expected-error @+1 {{'arith.constant' op has a value of type tensor<4xf32, "mine">, expected no encoding but #tile.layout}}
  %x = arith.constant dense<1.0> : tensor<4xf32, "mine">
  tile.return
}

// -----

#l = #tile.layout<reg [4:d0]>
tile.kernel @k() {
  // expected-note @+1 {{this tile has a layout}}
  %x = arith.constant dense<1.0> : tensor<4xf32, #l>
  // expected-error @+1 {{'arith.constant' op has both tensor<4xf32, #tile.layout<reg [4:d0]>> and tensor<4xf32> in one kernel, expected layouts on all tiles (scheduled level) or on none}}
  %y = arith.constant dense<1.0> : tensor<4xf32>
  tile.return
}

// -----

#l = #tile.layout<reg [4:d0], warp [2:_]>
// expected-note @+1 {{in this kernel}}
tile.kernel @k() attributes {warps = 4 : i32} {
  // expected-error @+1 {{'arith.constant' op has a tile of layout <reg [4:d0], warp [2:_]>, over 2 warps, expected the 4 that run this op}}
  %x = arith.constant dense<1.0> : tensor<4xf32, #l>
  tile.return
}

// -----

#l = #tile.layout<reg [4:d0], warp [2:_]>
// expected-note @+1 {{in this kernel}}
tile.kernel @k(%i: index) attributes {warps = 4 : i32} {
  tile.warp_specialize captures(%i : index) partition "a" warps(2) {
    %x = arith.constant dense<1.0> : tensor<4xf32, #l>
    tile.yield
  } partition "b" warps(1) {
    // expected-error @+1 {{'arith.constant' op has a tile of layout <reg [4:d0], warp [2:_]>, over 2 warps, expected the 1 that run this op}}
    %x = arith.constant dense<1.0> : tensor<4xf32, #l>
    tile.yield
  }
  tile.return
}

// -----

// Upstream's arith, math, scf and ub, and memref on single elements, may stand in a kernel; so may ops that are not
// upstream's.
#l = #tile.layout<reg [4:d0]>
tile.kernel @k(%m: memref<?xf32>, %i: index) {
  %x = arith.constant dense<1.0> : tensor<4xf32, #l>
  %y = math.exp %x : tensor<4xf32, #l>
  %p = ub.poison : f32
  %n = memref.dim %m, %i : memref<?xf32>
  %s = memref.subview %m[%i] [4] [1] : memref<?xf32> to memref<4xf32, strided<[1], offset: ?>>
  %v = memref.load %m[%i] : memref<?xf32>
  memref.store %v, %m[%i] : memref<?xf32>
  tile.return
}
