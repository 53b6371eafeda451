// Tokens must reach a wait on every path, buffers must outlive them, products under way must be waited for.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%v: memref<?xf32>, %i: index) {
  %V = tile.view %v : memref<?xf32> to !tile.view<8xf32>
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
  // expected-error @+1 {{'tile.copy_async' op makes a token that nothing waits for, expected a tile.wait on every path}}
  %t = tile.copy_async %V[%i] to %b : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%v: memref<?xf32>, %i: index, %c: i1) {
  %V = tile.view %v : memref<?xf32> to !tile.view<8xf32>
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
  // expected-error @+1 {{'tile.copy_async' op makes a token that reaches a wait on some paths only, expected a tile.wait on every path}}
  %t = tile.copy_async %V[%i] to %b : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
  scf.if %c {
    // expected-note @+1 {{this use may not be reached}}
    tile.wait %t
  }
  tile.return
}

// -----

// A loop may run zero times.
#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%v: memref<?xf32>, %i: index, %n: index) {
  %V = tile.view %v : memref<?xf32> to !tile.view<8xf32>
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
  // expected-error @+1 {{'tile.copy_async' op makes a token that reaches a wait on some paths only, expected a tile.wait on every path}}
  %t = tile.copy_async %V[%i] to %b : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
  scf.for %k = %i to %n step %n {
    // expected-note @+1 {{this use may not be reached}}
    tile.wait %t
  }
  tile.return
}

// -----

// The loop's result is the last token; the argument is the one before.
#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%v: memref<?xf32>, %i: index, %n: index) {
  %V = tile.view %v : memref<?xf32> to !tile.view<8xf32>
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
  %t = tile.copy_async %V[%i] to %b : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
  // expected-error @+1 {{'scf.for' op makes a token that nothing waits for, expected a tile.wait on every path}}
  %r = scf.for %k = %i to %n step %n iter_args(%s = %t) -> (!tile.token) {
    %u = tile.copy_async %V[%k] to %b : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
    scf.yield %u : !tile.token
  }
  tile.wait %r
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%v: memref<?xf32>, %i: index, %n: index) {
  %V = tile.view %v : memref<?xf32> to !tile.view<8xf32>
  %c = tile.alloc : !tile.buffer<8xf32, #o, shared>
  %t = tile.copy_async %V[%i] to %c : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
  %r = scf.for %k = %i to %n step %n iter_args(%s = %t) -> (!tile.token) {
    tile.wait %s
    %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
    // expected-error @+1 {{'tile.copy_async' op is still under way when its buffer dies, expected a tile.wait in the scope of the buffer}}
    %u = tile.copy_async %V[%k] to %b : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
    %j = tile.join %u
    // expected-note @+1 {{the token leaves the scope of the buffer here}}
    scf.yield %j : !tile.token
  }
  tile.wait %r
  tile.return
}

// -----

#l = #tile.layout<reg [4:d1, 4:d0]>
#o = #tile.layout<offset [4:d1, 4:d0]>
tile.kernel @k(%m: memref<?x?xf32>, %i: index) {
  %M = tile.view %m : memref<?x?xf32> to !tile.view<4x4xf32>
  %c = arith.constant dense<0.0> : tensor<4x4xf32, #l>
  %a = tile.alloc : !tile.buffer<4x4xf16, #o, shared>
  // expected-error @+1 {{'tile.mma_async' op is still under way when 'tile.store' uses it, expected it as an accumulator of tile.mma_async, in tile.mma_wait or in scf.yield}}
  %u = tile.mma_async %a, %a, %c atom "a" : !tile.buffer<4x4xf16, #o, shared>, !tile.buffer<4x4xf16, #o, shared> -> tensor<4x4xf32, #l>
  // expected-note @+1 {{it is used here}}
  tile.store %u, %M[%i, %i] : tensor<4x4xf32, #l>, !tile.view<4x4xf32>
  tile.return
}

// -----

#l = #tile.layout<reg [4:d1, 4:d0]>
#o = #tile.layout<offset [4:d1, 4:d0]>
tile.kernel @k(%m: memref<?x?xf32>, %i: index) {
  %M = tile.view %m : memref<?x?xf32> to !tile.view<4x4xf32>
  %c = arith.constant dense<0.0> : tensor<4x4xf32, #l>
  %a = tile.alloc : !tile.buffer<4x4xf16, #o, shared>
  %u = tile.mma_async %a, %a, %c atom "a" : !tile.buffer<4x4xf16, #o, shared>, !tile.buffer<4x4xf16, #o, shared> -> tensor<4x4xf32, #l>
  // expected-error @+1 {{'tile.mma_wait' op is still under way when 'arith.addf' uses it}}
  %v = tile.mma_wait %u pending 1 : tensor<4x4xf32, #l>
  // expected-note @+1 {{it is used here}}
  %s = arith.addf %v, %v : tensor<4x4xf32, #l>
  tile.return
}

// -----

// Taken on every path: both branches, the first region of a while, a join, a loop that carries it.
#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%v: memref<?xf32>, %i: index, %n: index, %c: i1) {
  %V = tile.view %v : memref<?xf32> to !tile.view<8xf32>
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
  %t = tile.copy_async %V[%i] to %b : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
  scf.if %c {
    tile.wait %t
  } else {
    %j = tile.join %t, %t
    tile.wait %j
  }
  %u = tile.copy_async %V[%i] to %b : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
  scf.while : () -> () {
    tile.wait %u
    scf.condition(%c)
  } do {
    scf.yield
  }
  %w = tile.copy_async %V[%i] to %b : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
  %r = scf.for %k = %i to %n step %n iter_args(%s = %w) -> (!tile.token) {
    tile.wait %s
    %x = tile.copy_async %V[%k] to %b : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
    scf.yield %x : !tile.token
  }
  tile.wait %r
  tile.return
}
