// Malformed text of the forms that directives parse is refused where it stands.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

tile.kernel @a(%x: memref<?x?x?xf16>, %i: index) {
  // expected-error@below {{custom op 'tile.view' 2 entries in brackets, expected one per dimension of the memref: 3}}
  %0 = tile.view %x[%i, _] : memref<?x?x?xf16> to !tile.view<4x4xf16>
  tile.return
}

// -----

tile.kernel @a(%x: memref<?x?x?xf16>, %i: index) {
  // expected-error@below {{custom op 'tile.view' expected '_'}}
  %0 = tile.view %x[] : memref<?x?x?xf16> to !tile.view<4x4xf16>
  tile.return
}

// -----

tile.kernel @a(%x: memref<?x?x?xf16>, %i: index) {
  // expected-error@below {{custom op 'tile.view' expected '_'}}
  %0 = tile.view %x[%i, _, 3] : memref<?x?x?xf16> to !tile.view<4x4xf16>
  tile.return
}

// -----

tile.kernel @a(%x: memref<?x?x?xf16>, %i: index) {
  // expected-error@below {{custom op 'tile.view' 4 entries in brackets, expected one per dimension of the memref: 3}}
  %0 = tile.view %x[%i, _, _, _] : memref<?x?x?xf16> to !tile.view<4x4xf16>
  tile.return
}

// -----

tile.kernel @a(%p: i64, %i: index) {
  // expected-error@below {{custom op 'tile.memref_at' 1 sizes for a memref of rank 2}}
  %0 = tile.memref_at %p sizes [%i] : i64 to memref<?x?xf16>
  tile.return
}

// -----

tile.kernel @a(%p: i64, %i: index) {
  // expected-error@below {{custom op 'tile.memref_at' entry 1 of sizes is a number, dynamic in the memref's type}}
  %0 = tile.memref_at %p sizes [%i, 4] : i64 to memref<?x?xf16>
  tile.return
}

// -----

tile.kernel @a(%p: i64, %i: index) {
  // expected-error@below {{custom op 'tile.memref_at' entry 1 of sizes must be 8 as in the memref's type}}
  %0 = tile.memref_at %p sizes [%i, 4] : i64 to memref<?x8xf16>
  tile.return
}

// -----

tile.kernel @a(%p: i64, %i: index) {
  // expected-error@below {{custom op 'tile.memref_at' entry 0 of strides must be 1 as in the memref's type}}
  %0 = tile.memref_at %p sizes [%i] strides [2] : i64 to memref<?xf16>
  tile.return
}

// -----

tile.kernel @a(%p: i64, %i: index) {
  // expected-error@below {{custom op 'tile.memref_at' expected a memref, found 'tensor<4xf16>'}}
  %0 = tile.memref_at %p sizes [%i] : i64 to tensor<4xf16>
  tile.return
}

// -----

tile.func @a(%x: tensor<4xf32>, %s: f32) {
  // expected-error@below {{custom op 'tile.scan' 1 types, expected one per input and per initial state: 2}}
  %0 = tile.scan {arith.addf} %x init %s axis 0 : tensor<4xf32>
  tile.return
}

// -----

tile.func @a(%x: tensor<4xf32>, %s: f32) {
  // expected-error@below {{custom op 'tile.scan' 2 types, expected one per input and per initial state: 1}}
  %0 = tile.scan {arith.addf} %x axis 0 : tensor<4xf32>, f32
  tile.return
}

// -----

tile.kernel @a(%x: memref<?xf32>, %i: index) {
  %X = tile.view %x : memref<?xf32> to !tile.view<4xf32>
  // expected-error@below {{custom op 'tile.copy' indices on both sides, expected them on the view's only}}
  tile.copy %X[%i] to %X[%i] : !tile.view<4xf32> to !tile.view<4xf32>
  tile.return
}

// -----

tile.kernel @a(%i: index) {
  // expected-error@below {{custom op 'tile.warp_specialize' 1 types for 2 captures}}
  tile.warp_specialize captures(%i, %i : index)
  partition "a" warps(4) { tile.yield }
  tile.return
}

// -----

tile.kernel @a(%i: index) {
  // expected-error@below {{custom op 'tile.warp_specialize' more types than the 1 captures}}
  tile.warp_specialize captures(%i : index, index)
  partition "a" warps(4) { tile.yield }
  tile.return
}

// -----

tile.kernel @a(%i: index) {
  tile.warp_specialize
  // expected-error@below {{custom op 'tile.warp_specialize' the name of a partition must be a string}}
  partition 4 warps(4) { tile.yield }
  tile.return
}

// -----

tile.kernel @a(%i: index) {
  tile.warp_specialize
  // expected-error@below {{custom op 'tile.warp_specialize' expected 'warps'}}
  partition "a" { tile.yield }
  tile.return
}

// -----

tile.kernel @a(%i: index) {
  tile.warp_specialize captures(%i : index)
  // expected-error@below {{use of undeclared SSA value name}}
  partition "a" warps(4) { tile.print "x", %j : index
  tile.yield }
  tile.return
}

// -----

tile.kernel @a(%x: memref<?xf32>, %i: index) {
  %X = tile.view %x : memref<?xf32> to !tile.view<4xf32>
  // expected-error@below {{expected ']'}}
  %0 = tile.gather %X[%i bounds(trap) : !tile.view<4xf32>[index] -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @a(%x: memref<?xf32>, %i: index) {
  %X = tile.view %x : memref<?xf32> to !tile.view<4xf32>
  // expected-error@below {{custom op 'tile.gather' expected one of trap, clamp, drop}}
  %0 = tile.gather %X[%i] bounds(trp) : !tile.view<4xf32>[index] -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @a(%x: memref<?xf32>, %i: index) {
  %X = tile.view %x : memref<?xf32> to !tile.view<4xf32>
  // expected-error@below {{custom op 'tile.gather' expected as many types as operands 'indices': 1, but got 2}}
  %0 = tile.gather %X[%i] bounds(trap) : !tile.view<4xf32>[index, index] -> tensor<4xf32>
  tile.return
}

// -----

func.func @a(%x: tensor<?xf32>, %i: index) {
  // expected-error@below {{custom op 'tile.launch' unknown memory level 'shard', expected one of register, shared, local, tmem, global}}
  %0 = tile.launch @k grid(%i) outs(%x : tensor<?xf32>) meets [shard] -> tensor<?xf32>
  return
}

// -----

tile.kernel @a(%x: memref<?xf32>) {
  // expected-error@below {{custom op 'tile.assume' expected integer value}}
  %0 = tile.assume %x sizes [a] : memref<?xf32>
  tile.return
}
