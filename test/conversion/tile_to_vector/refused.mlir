// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(convert-tile-to-vector)'

tile.kernel @bits(%a: memref<16xi24>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i24
  // expected-error@+1 {{not lowered to the CPU yet: atomics on elements of 24 bits}}
  %x = tile.atomic_rmw add %one, %a[%c0] relaxed device : i24, memref<16xi24> -> i24
  tile.return
}

// -----

tile.kernel @strange_format(%a: f32) {
  // expected-error@+1 {{not lowered to the CPU yet: a conversion of f32 to f8E3M4}}
  %x = tile.convert_type %a saturate : f32 -> f8E3M4
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

// -----

tile.kernel @partitions() attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  // expected-error@+1 {{not lowered to the CPU yet: 'tile.warp_specialize', which needs other threads or units}}
  tile.warp_specialize captures()
  partition "all" warps(4) {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @arrives() attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %b = tile.alloc : !tile.barrier<1>
  // expected-error@+1 {{not lowered to the CPU yet: 'tile.barrier_arrive'}}
  tile.barrier_arrive %b[%c0] : !tile.barrier<1>
  tile.return
}

// -----

tile.kernel @waits() attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %b = tile.alloc : !tile.barrier<1>
  // expected-error@+1 {{not lowered to the CPU yet: 'tile.barrier_wait'}}
  tile.barrier_wait %b[%c0] : !tile.barrier<1>
  tile.return
}

// -----

#acc = #tile.layout<reg [2:d1, 2:d0*8, 32:d1*8], lane [4:d1*2, 8:d0], warp [4:d0*16]>
#sa = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8]>
#sb = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8, 4:d1*64]>
tile.kernel @multiplies() attributes {machine = #tile.machine<"sm_90a">, warps = 4 : i32} {
  %zero = arith.constant dense<0.0> : tensor<64x256xf32, #acc>
  %x = tile.alloc : !tile.buffer<64x64xf16, #sa, shared>
  %w = tile.alloc : !tile.buffer<64x256xf16, #sb, shared>
  // expected-error@+1 {{not lowered to the CPU yet: 'tile.mma_async'}}
  %u = tile.mma_async %x, %w, %zero atom "wgmma.m64n256k16"
      : !tile.buffer<64x64xf16, #sa, shared>, !tile.buffer<64x256xf16, #sb, shared> -> tensor<64x256xf32, #acc>
  %v = tile.mma_wait %u pending 0 : tensor<64x256xf32, #acc>
  tile.return
}

// -----

tile.kernel @by_engine(%a: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<64x64xf16> to !tile.view<64x64xf16>
  %x = tile.alloc : !tile.buffer<64x64xf16, #tile.layout<offset [64:d1, 64:d0]>, local>
  // expected-error@+1 {{not lowered to the CPU yet: a copy by an engine}}
  %t = tile.copy_async %A[%c0, %c0] to %x engine "tma" : !tile.view<64x64xf16> to !tile.buffer<64x64xf16, #tile.layout<offset [64:d1, 64:d0]>, local>
  tile.wait %t
  tile.return
}

// -----

// expected-error@+1 {{schedule: `register` is [4, 40]; a kernel for the CPU accepts columns that are a multiple of 16, and at most 32 vectors in all}}
tile.kernel @scheduled(%a: memref<32x64xf32>, %b: memref<64x96xf32>, %c: memref<32x96xf32>)
    attributes {schedule = #tile.schedule<register = [4, 40]>} {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<32x64xf32> to !tile.view<32x64xf32>
  %B = tile.view %b : memref<64x96xf32> to !tile.view<64x96xf32>
  %C = tile.view %c : memref<32x96xf32> to !tile.view<32x96xf32>
  %x = tile.load %A[%c0, %c0] : !tile.view<32x64xf32> -> tensor<32x64xf32>
  %y = tile.load %B[%c0, %c0] : !tile.view<64x96xf32> -> tensor<64x96xf32>
  %zero = arith.constant dense<0.0> : tensor<32x96xf32>
  %s = tile.mma %x, %y, %zero : tensor<32x64xf32>, tensor<64x96xf32> -> tensor<32x96xf32>
  tile.store %s, %C[%c0, %c0] : tensor<32x96xf32>, !tile.view<32x96xf32>
  tile.return
}

// -----

// expected-error@+1 {{is cooperative: its programs wait for each other, but a CPU runs one after the other}}
tile.kernel @waits(%a: memref<4xi32>) attributes {cooperative} {
  tile.return
}
