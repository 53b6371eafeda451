// What views, loads, stores, gathers, scatters and atomics must not say.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

tile.kernel @k(%m: memref<?x?xf32>, %i: index) {
  // expected-error @+1 {{'tile.view' op fixed has 2, expected 0 to 1}}
  %v = "tile.view"(%m, %i) <{fixed = array<i64: 2>}> : (memref<?x?xf32>, index) -> !tile.view<4xf32>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?x?xf32>, %i: index) {
  // expected-error @+1 {{'tile.view' op has 1 indices, expected 2, one per fixed dimension}}
  %v = "tile.view"(%m, %i) <{fixed = array<i64: 0, 1>}> : (memref<?x?xf32>, index) -> !tile.view<f32>
  tile.return
}

// -----

// expected-note @+1 {{the memref is defined here}}
tile.kernel @k(%m: memref<?x?xf32>, %i: index) {
  // expected-error @+1 {{'tile.view' op keeps 1 of the memref's 2 dimensions, expected the view's rank, 2 (!tile.view<4x8xf32>)}}
  %v = tile.view %m[%i, _] : memref<?x?xf32> to !tile.view<4x8xf32>
  tile.return
}

// -----

// expected-note @+1 {{the other one is defined here}}
tile.kernel @k(%m: memref<?xf32>) {
  // expected-error @+1 {{'tile.view' op the view has elements of type f16, expected those of the memref, f32}}
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf16>
  tile.return
}

// -----

// expected-note @+1 {{the memref is defined here}}
tile.kernel @k(%m: memref<?xi8>) {
  // expected-error @+1 {{'tile.view' op unpacks i16 from words of i8, expected an element whose width divides the word's}}
  %v = tile.view %m : memref<?xi8> to !tile.view<8xi16, packed = #tile.layout<offset [2:d0]>>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>) {
  // expected-note @+1 {{the view is defined here}}
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  // expected-error @+1 {{'tile.num_tiles' op dim is 1, expected less than the view's rank, 1}}
  %n = tile.num_tiles %v dim 1 : !tile.view<8xf32>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>, %i: index) {
  // expected-note @+1 {{it is defined here}}
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  // expected-error @+1 {{'tile.in_bounds' op has 2 indices, expected 1: one per dimension of a view or memref, none for a buffer (!tile.view<8xf32>)}}
  %b = tile.in_bounds %v[%i, %i] : !tile.view<8xf32> -> tensor<8xi1>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>, %i: index) {
  // expected-note @+1 {{the other one is defined here}}
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  // expected-error @+1 {{'tile.in_bounds' op the result has shape 4 (tensor<4xi1>), expected the shape of the view, 8 (!tile.view<8xf32>)}}
  %b = tile.in_bounds %v[%i] : !tile.view<8xf32> -> tensor<4xi1>
  tile.return
}

// -----

tile.kernel @k(%p: i64, %n: index) {
  // expected-error @+1 {{'tile.memref_at' op gives 1 sizes, expected 2, one per dynamic one of memref<?x?xf32>}}
  %m = "tile.memref_at"(%p, %n) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i64, index) -> memref<?x?xf32>
  tile.return
}

// -----

tile.kernel @k(%p: i64, %n: index) {
  // expected-error @+1 {{'tile.memref_at' op gives 0 strides, expected 1, one per dynamic one of memref<?xf32, strided<[?]>>}}
  %m = "tile.memref_at"(%p, %n) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i64, index) -> memref<?xf32, strided<[?]>>
  tile.return
}

// -----

tile.kernel @k(%p: i64, %n: index) {
  // expected-error @+1 {{'tile.memref_at' op makes memref<?xf32, strided<[1], offset: 4>>, expected strides and no offset: the address says where it begins}}
  %m = "tile.memref_at"(%p, %n) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i64, index) -> memref<?xf32, strided<[1], offset: 4>>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>) {
  // expected-note @+1 {{it is defined here}}
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  // expected-error @+1 {{'tile.load' op has 0 indices, expected 1}}
  %x = tile.load %v : !tile.view<8xf32> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>, %i: index) {
  // expected-note @+1 {{the other one is defined here}}
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  // expected-error @+1 {{'tile.load' op the result has shape 4 (tensor<4xf32>), expected the shape of the source, 8 (!tile.view<8xf32>)}}
  %x = tile.load %v[%i] : !tile.view<8xf32> -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>, %i: index) {
  // expected-note @+1 {{the other one is defined here}}
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  // expected-error @+1 {{'tile.load' op the result has elements of type f16, expected those of the source, f32}}
  %x = tile.load %v[%i] : !tile.view<8xf32> -> tensor<8xf16>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.kernel @k() {
  // expected-note @+1 {{the ring is defined here}}
  %b = tile.alloc : !tile.buffer<8xf32, #o, local, stages = 2>
  // expected-error @+1 {{'tile.load' op the buffer is a ring of 2 stages, expected one stage: take it with tile.slot}}
  %x = tile.load %b : !tile.buffer<8xf32, #o, local, stages = 2> -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>, %i: index, %x: f32) {
  // expected-note @+1 {{the other one is defined here}}
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  // expected-error @+1 {{'tile.store' op the value has shape scalar (f32), expected the shape of the destination, 8 (!tile.view<8xf32>)}}
  tile.store %x, %v[%i] : f32, !tile.view<8xf32>
  tile.return
}

// -----

tile.kernel @k(%m: memref<f32>, %x: f32) {
  %v = tile.view %m : memref<f32> to !tile.view<f32>
  // expected-error @+1 {{'tile.store' op combine(xor) of f32, expected integer elements}}
  tile.store %x, %v[] combine(xor) : f32, !tile.view<f32>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>, %i: index) {
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  // expected-error @+1 {{'tile.gather' op has tile indices only, expected a tile of element numbers in at least one dimension: without one, tile.load and tile.store say it}}
  %x = tile.gather %v[%i] bounds(drop) : !tile.view<8xf32>[index] -> tensor<8xf32>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?x?xf32>, %i: index) {
  // expected-note @+1 {{the view is defined here}}
  %v = tile.view %m : memref<?x?xf32> to !tile.view<8x4xf32>
  %r = tile.iota dim 0 : tensor<4xi32>
  // expected-error @+1 {{'tile.gather' op index #0 is tensor<4xi32>, expected index, or a tile of 8 element numbers}}
  %x = tile.gather %v[%r, %i] bounds(drop) : !tile.view<8x4xf32>[tensor<4xi32>, index] -> tensor<8x4xf32>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?x?xf32>) {
  %r = tile.iota dim 0 : tensor<4xi32>
  %c = tile.iota dim 0 : tensor<8xi32>
  // expected-error @+1 {{'tile.gather' op index #1 has shape 8, expected that of the result, 4}}
  %x = tile.gather %m[%r, %c] bounds(drop) : memref<?x?xf32>[tensor<4xi32>, tensor<8xi32>] -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>, %i: index) {
  // expected-error @+1 {{'tile.gather' op the result is f32, expected a tile: memref.load and memref.store reach one element}}
  %x = tile.gather %m[%i] bounds(drop) : memref<?xf32>[index] -> f32
  tile.return
}

// -----

tile.kernel @k() {
  %a = tile.iota dim 0 : tensor<4xi32>
  // expected-error @+1 {{'tile.gather' op reaches tensor<4xi32>, expected a view, a memref or a tile of i64 addresses}}
  %x = "tile.gather"(%a) <{bounds = "trap", operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (tensor<4xi32>) -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k(%i: index) {
  %a = tile.iota dim 0 : tensor<4xi64>
  // expected-error @+1 {{'tile.gather' op indexes a tile of addresses with 1 indices, expected none}}
  %x = tile.gather %a[%i] bounds(trap) : tensor<4xi64>[index] -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>) {
  %a = tile.iota dim 0 : tensor<4xi64>
  // expected-error @+1 {{'tile.gather' op has an axis but reaches memref<?xf32>, expected a tile: views and memrefs take an index per dimension}}
  %x = tile.gather %m[%a] axis 0 bounds(trap) : memref<?xf32>[tensor<4xi64>] -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k(%y: memref<f32>) {
  %x = arith.constant dense<1.0> : tensor<8x4xf32>
  %a = tile.iota dim 1 : tensor<8x2xi32>
  // expected-error @+1 {{'tile.gather' op axis is 2, expected 0 to 1}}
  %g = tile.gather %x[%a] axis 2 bounds(trap) : tensor<8x4xf32>[tensor<8x2xi32>] -> tensor<8x2xf32>
  tile.return
}

// -----

tile.kernel @k(%y: memref<f32>) {
  %x = arith.constant dense<1.0> : tensor<8x4xf32>
  %a = tile.iota dim 1 : tensor<8x2xi32>
  // expected-error @+1 {{'tile.gather' op the result has shape 4x2, expected that of the source, 8x4, but along axis 1}}
  %g = tile.gather %x[%a] axis 1 bounds(trap) : tensor<8x4xf32>[tensor<8x2xi32>] -> tensor<4x2xf32>
  tile.return
}

// -----

tile.kernel @k(%y: memref<f32>) {
  %x = arith.constant dense<1.0> : tensor<8x4xf32>
  // expected-note @+1 {{the other one is defined here}}
  %a = tile.iota dim 1 : tensor<8x2xi32>
  // expected-error @+1 {{'tile.gather' op the result has shape 8x3 (tensor<8x3xf32>), expected the shape of the index, 8x2 (tensor<8x2xi32>)}}
  %g = tile.gather %x[%a] axis 1 bounds(trap) : tensor<8x4xf32>[tensor<8x2xi32>] -> tensor<8x3xf32>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>) {
  %a = tile.iota dim 0 : tensor<4xi32>
  %o = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{'tile.gather' op has `other` but neither a mask nor bounds(drop): nothing would take its value}}
  %x = tile.gather %m[%a] other %o bounds(trap) : memref<?xf32>[tensor<4xi32>] -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>) {
  %a = tile.iota dim 0 : tensor<4xi32>
  %x = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{'tile.scatter' op has bounds(clamp), expected trap or drop: a clamped store would overwrite the edge}}
  tile.scatter %x, %m[%a] bounds(clamp) : tensor<4xf32>, memref<?xf32>[tensor<4xi32>]
  tile.return
}

// -----

// expected-note @+1 {{the other one is defined here}}
tile.kernel @k(%m: memref<?xf16>) {
  %a = tile.iota dim 0 : tensor<4xi32>
  %x = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{'tile.scatter' op the value has elements of type f32, expected those of the memref, f16}}
  tile.scatter %x, %m[%a] bounds(drop) : tensor<4xf32>, memref<?xf16>[tensor<4xi32>]
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>, %i: index, %x: f32) {
  // expected-error @+1 {{'tile.atomic_rmw' op add of f32, expected fadd or xchg for floats}}
  %o = tile.atomic_rmw add %x, %m[%i] relaxed device : f32, memref<?xf32> -> f32
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xi32>, %i: index, %x: i32) {
  // expected-error @+1 {{'tile.atomic_rmw' op fadd of i32, expected an integer kind}}
  %o = tile.atomic_rmw fadd %x, %m[%i] relaxed device : i32, memref<?xi32> -> i32
  tile.return
}

// -----

// expected-note @+1 {{it is defined here}}
tile.kernel @k(%m: memref<?xi32>, %x: i32) {
  // expected-error @+1 {{'tile.atomic_cas' op has 0 indices, expected 1}}
  %o = tile.atomic_cas %x, %x, %m[] relaxed device : i32, memref<?xi32> -> i32
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xi32>, %i: index) {
  // expected-error @+1 {{'tile.atomic_load' op has order release, expected relaxed or acquire}}
  %o = tile.atomic_load %m[%i] release device : memref<?xi32> -> i32
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xi32>, %i: index, %x: i32) {
  // expected-error @+1 {{'tile.atomic_wait' op has order release, expected relaxed or acquire}}
  tile.atomic_wait %m[%i] least %x release device : memref<?xi32>, i32
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>, %i: index, %x: f32) {
  // expected-error @+1 {{'tile.atomic_wait' op waits for a number of type f32; accepts i32 and i64}}
  tile.atomic_wait %m[%i] least %x acquire device : memref<?xf32>, f32
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xi48>, %i: index, %x: i48) {
  // expected-error @+1 {{'tile.atomic_wait' op waits for a number of type i48; accepts i32 and i64}}
  tile.atomic_wait %m[%i] least %x acquire device : memref<?xi48>, i48
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xi32>, %i: index, %x: i32) {
  // expected-error @+1 {{'tile.atomic_store' op has order acquire, expected relaxed or release}}
  tile.atomic_store %x, %m[%i] acquire device : i32, memref<?xi32>
  tile.return
}
