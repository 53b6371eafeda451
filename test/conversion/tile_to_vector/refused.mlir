// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(convert-tile-to-vector)'

tile.kernel @bits(%a: memref<16xi4>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i4
  // expected-error@+1 {{not lowered to the CPU yet: atomics on elements of 4 bits}}
  %x = tile.atomic_rmw add %one, %a[%c0] relaxed device : i4, memref<16xi4> -> i4
  tile.return
}

// -----

tile.kernel @narrow(%a: f32) {
  // expected-error@+1 {{not lowered to the CPU yet: a conversion of f32 to f8E4M3FN}}
  %x = tile.convert_type %a saturate : f32 -> f8E4M3FN
  tile.return
}

// -----

tile.kernel @packed(%a: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1> : tensor<4xi8>
  %A = tile.view %a : memref<?xi32> to !tile.view<4xi8, packed = #tile.layout<offset [4:d0]>>
  // expected-error@+1 {{not lowered to the CPU yet: atomics on a packed view}}
  tile.store %one, %A[%c0] combine(add) : tensor<4xi8>, !tile.view<4xi8, packed = #tile.layout<offset [4:d0]>>
  tile.return
}

// -----

tile.kernel @shared(%a: memref<16xf32>) {
  // expected-error@+1 {{not lowered to the CPU yet: memory other than a local buffer}}
  %P = tile.alloc : !tile.buffer<16xf32, #tile.layout<offset [16:d0]>, shared>
  tile.return
}

// -----

tile.kernel @swizzled(%a: memref<16xf32>) {
  // expected-error@+1 {{not lowered to the CPU yet: a buffer whose layout is not made of plain strides}}
  %P = tile.alloc : !tile.buffer<8x8xf32, #tile.layout<offset [8:d1, 8:d0+d1]>, local>
  tile.return
}

// -----

tile.kernel @strange(%a: memref<16xf32, affine_map<(d0) -> (d0 floordiv 2)>>) {
  // expected-error@+1 {{not lowered to the CPU yet: a memref whose layout has no strides}}
  %A = tile.view %a : memref<16xf32, affine_map<(d0) -> (d0 floordiv 2)>> to !tile.view<16xf32>
  tile.return
}

// -----

tile.kernel @high(%y: memref<1xf32>, %f: f32) {
  // expected-error@+1 {{not lowered to the CPU yet: rank 9 (at most 8)}}
  %x = tile.broadcast %f : f32 -> tensor<1x1x1x1x1x1x1x1x2xf32>
  tile.return
}

// -----

tile.func private @endless(%x: f32) -> f32 {
  // expected-error@+1 {{not lowered to the CPU yet: calls nested more than 32 deep}}
  %y = tile.call @endless(%x) : (f32) -> f32
  tile.return %y : f32
}
tile.kernel @calls(%y: memref<1xf32>, %f: f32) {
  %c0 = arith.constant 0 : index
  %r = tile.call @endless(%f) : (f32) -> f32
  memref.store %r, %y[%c0] : memref<1xf32>
  tile.return
}
