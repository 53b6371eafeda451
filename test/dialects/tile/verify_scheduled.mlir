// What buffers, copies, waits, barriers, asynchronous products and partitions must not say.
// RUN: %tile_opt %s -split-input-file -verify-diagnostics
// RUN: %mlir_opt_plugin %s -split-input-file -verify-diagnostics

#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%i: index) {
  // expected-note @+1 {{the buffer is defined here}}
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
  // expected-error @+1 {{'tile.slot' op takes a slot of !tile.buffer<8xf32, #tile.layout<offset [8:d0]>, shared>, expected a ring: a buffer with stages}}
  %s = tile.slot %b[%i] : !tile.buffer<8xf32, #o, shared>
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.convert_layout' op converts tensor<8xf32> to tensor<8xf32>, expected tiles with layouts}}
  %y = tile.convert_layout %x : tensor<8xf32> -> tensor<8xf32>
  tile.return
}

// -----

#a = #tile.layout<reg [8:d0]>
#b = #tile.layout<reg [4:d0]>
tile.kernel @k() {
  // expected-note @+1 {{the other one is defined here}}
  %x = arith.constant dense<1.0> : tensor<8xf32, #a>
  // expected-error @+1 {{'tile.convert_layout' op the result has shape 4}}
  %y = tile.convert_layout %x : tensor<8xf32, #a> -> tensor<4xf32, #b>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%m: memref<?xf32>, %i: index) {
  // expected-note @+1 {{it is defined here}}
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  %b = tile.alloc : !tile.buffer<8xf32, #o, local>
  // expected-error @+1 {{'tile.copy' op has 2 indices, expected 1}}
  tile.copy %v[%i, %i] to %b : !tile.view<8xf32> to !tile.buffer<8xf32, #o, local>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%m: memref<?xf32>, %i: index) {
  %b = tile.alloc : !tile.buffer<8xf32, #o, local>
  // expected-error @+1 {{expected a view and a buffer, in either direction}}
  "tile.copy"(%b, %b) : (!tile.buffer<8xf32, #o, local>, !tile.buffer<8xf32, #o, local>) -> ()
  tile.return
}

// -----

#o = #tile.layout<offset [4:d0]>
tile.kernel @k(%m: memref<?xf32>, %i: index) {
  // expected-note @+1 {{the other one is defined here}}
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  %b = tile.alloc : !tile.buffer<4xf32, #o, local>
  // expected-error @+1 {{'tile.copy' op the destination has shape 4}}
  tile.copy %v[%i] to %b : !tile.view<8xf32> to !tile.buffer<4xf32, #o, local>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%m: memref<?xf32>, %i: index) {
  // expected-note @+1 {{the other one is defined here}}
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  %b = tile.alloc : !tile.buffer<8xf16, #o, local>
  // expected-error @+1 {{'tile.copy' op the destination has elements of type f16, expected those of the source, f32}}
  tile.copy %v[%i] to %b : !tile.view<8xf32> to !tile.buffer<8xf16, #o, local>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%m: memref<?xf32>, %i: index) {
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  // expected-note @+1 {{the ring is defined here}}
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared, stages = 2>
  // expected-error @+1 {{'tile.copy_async' op the buffer is a ring of 2 stages, expected one stage: take it with tile.slot}}
  %t = tile.copy_async %v[%i] to %b : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared, stages = 2>
  tile.wait %t
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%m: memref<?xf32>, %i: index) {
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
  // expected-error @+1 {{'tile.copy_async' op an axis of multicast is 3, expected 0 to 2}}
  %t = tile.copy_async %v[%i] to %b multicast [3] : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
  tile.wait %t
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>) {
  // expected-note @+1 {{it is defined here}}
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  // expected-error @+1 {{'tile.prefetch' op has 0 indices, expected 1}}
  tile.prefetch %v[] : !tile.view<8xf32>
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error @+1 {{'tile.wait' op has no token, expected at least one}}
  "tile.wait"() : () -> ()
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error @+1 {{'tile.join' op has no token, expected at least one}}
  %t = "tile.join"() : () -> !tile.token
  tile.wait %t
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%m: memref<?xf32>, %i: index) {
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
  %f = tile.alloc : !tile.barrier<1>
  // expected-error @+1 {{'tile.barrier_arrive' op expects 64 bytes, expected 32: what the copies beside it bring in this round}}
  tile.barrier_arrive %f[%i] expect 64 : !tile.barrier<1>
  tile.copy_async %v[%i] to %b signals %f[%i] : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>, !tile.barrier<1>
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error @+1 {{'tile.fence' op has a scope, expected none for async: it orders this program's own engines}}
  tile.fence async device
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error @+1 {{'tile.fence' op has no scope, expected block, cluster, device or system}}
  tile.fence acquire
  tile.return
}

// -----

tile.kernel @print_strided(%x: memref<4xf32>, %y: memref<4xf32, strided<[2]>>) {
  tile.print "{}", %x : memref<4xf32>
  // expected-error @+1 {{'tile.print' op prints value #0 of type memref<4xf32, strided<[2]>>, expected a memref of known sizes that is dense}}
  tile.print "{}", %y : memref<4xf32, strided<[2]>>
  tile.return
}

// -----

tile.kernel @k(%x: f32) {
  // expected-error @+1 {{'tile.print' op has 1 values for 2 places {}, expected one each}}
  tile.print "{} and {}", %x : f32
  tile.return
}

// -----

#l = #tile.layout<reg [4:d1, 4:d0]>
#o = #tile.layout<offset [4:d1, 4:d0]>
tile.kernel @k() {
  %c = arith.constant dense<0.0> : tensor<4x4xf32, #l>
  // expected-note @+1 {{the buffer is defined here}}
  %a = tile.alloc : !tile.buffer<4x4xf16, #o, local>
  %b = tile.alloc : !tile.buffer<4x4xf16, #o, shared>
  // expected-error @+1 {{'tile.mma_async' op lhs lies in local, expected shared or tmem}}
  %u = tile.mma_async %a, %b, %c atom "a" : !tile.buffer<4x4xf16, #o, local>, !tile.buffer<4x4xf16, #o, shared> -> tensor<4x4xf32, #l>
  %v = tile.mma_wait %u pending 0 : tensor<4x4xf32, #l>
  tile.return
}

// -----

#l = #tile.layout<reg [4:d1, 4:d0]>
#o = #tile.layout<offset [4:d1, 4:d0]>
tile.kernel @k() {
  %b = tile.alloc : !tile.buffer<4x4xf16, #o, shared>
  %c = tile.alloc : !tile.buffer<4x4xf32, #o, tmem>
  // expected-error @+1 {{'tile.mma_async' op signals no barrier, expected one: its accumulator lies in tmem}}
  tile.mma_async %b, %b, %c atom "a" : !tile.buffer<4x4xf16, #o, shared>, !tile.buffer<4x4xf16, #o, shared> -> !tile.buffer<4x4xf32, #o, tmem>
  tile.return
}

// -----

#o = #tile.layout<offset [4:d1, 4:d0]>
tile.kernel @k() {
  %b = tile.alloc : !tile.buffer<4x4xf16, #o, shared>
  %c = tile.alloc : !tile.buffer<4x4xf32, #o, shared>
  // expected-error @+1 {{expected a tile or a buffer in tmem}}
  tile.mma_async %b, %b, %c atom "a" : !tile.buffer<4x4xf16, #o, shared>, !tile.buffer<4x4xf16, #o, shared> -> !tile.buffer<4x4xf32, #o, shared>
  tile.return
}

// -----

tile.func private @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tile.mma_wait' op pending is 8, expected 0 to 7}}
  %y = tile.mma_wait %x pending 8 : tensor<8xf32>
  tile.return
}

// -----

tile.func private @f(%i: index) {
  // expected-error @+1 {{'tile.warp_specialize' op stands in 'tile.func', expected it directly in a tile.kernel}}
  tile.warp_specialize captures(%i : index) partition "a" warps(1) {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>, %i: index) {
  // expected-note @+1 {{it is defined here}}
  %x = arith.constant dense<1.0> : tensor<4xf32>
  // expected-error @+1 {{'tile.warp_specialize' op captures tensor<4xf32>, expected scalars, memrefs, views, buffers and barriers only}}
  tile.warp_specialize captures(%x : tensor<4xf32>) partition "a" warps(1) {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%i: index) {
  // expected-error @+1 {{'tile.warp_specialize' op has two partitions "a", expected different names}}
  tile.warp_specialize captures(%i : index) partition "a" warps(1) {
    tile.yield
  } partition "a" warps(1) {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%i: index) {
  // expected-error @+1 {{'tile.warp_specialize' op warps of a partition is 0, expected 1 to 64}}
  tile.warp_specialize captures(%i : index) partition "a" warps(0) {
    tile.yield
  }
  tile.return
}

// -----

// expected-note @+1 {{the kernel's warps are said here}}
tile.kernel @k(%i: index) attributes {warps = 4 : i32} {
  // expected-error @+1 {{'tile.warp_specialize' op its partitions have 5 warps together, expected at most the kernel's 4}}
  tile.warp_specialize captures(%i : index) partition "a" warps(1) {
    tile.yield
  } partition "b" warps(4) {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%i: index) {
  // expected-error @+1 {{'tile.warp_specialize' op registers of a partition is 1000, expected 0 to 512}}
  tile.warp_specialize captures(%i : index) partition "a" warps(1) registers(1000) {
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @k(%i: index) {
  // expected-error @+1 {{'tile.warp_specialize' op warps has 2 entries, expected 1, one per partition}}
  "tile.warp_specialize"(%i) <{names = ["a"], warps = array<i64: 1, 1>}> ({
  ^bb0(%j: index):
    tile.yield
  }) : (index) -> ()
  tile.return
}

// -----

tile.kernel @k(%i: index) {
  // expected-error @+1 {{'tile.warp_specialize' op partition #0 has 0 arguments, expected 1, one per capture}}
  "tile.warp_specialize"(%i) <{names = ["a"], warps = array<i64: 1>}> ({
    tile.yield
  }) : (index) -> ()
  tile.return
}

// -----

tile.kernel @k(%i: index) {
  // expected-error @+1 {{'tile.warp_specialize' op argument #0 of partition #0 is i32, expected the capture's type, index}}
  "tile.warp_specialize"(%i) <{names = ["a"], warps = array<i64: 1>}> ({
  ^bb0(%j: i32):
    tile.yield
  }) : (index) -> ()
  tile.return
}

// -----

tile.kernel @k(%i: index) {
  // expected-error @+1 {{'tile.warp_specialize' op partition #0 is empty, expected a body}}
  "tile.warp_specialize"(%i) <{names = ["a"], warps = array<i64: 1>}> ({
  }) : (index) -> ()
  tile.return
}

// -----

tile.kernel @k(%i: index) {
  // expected-error @+1 {{'tile.warp_specialize' op has no partition, expected at least one}}
  "tile.warp_specialize"(%i) <{names = [], warps = array<i64>}> : (index) -> ()
  tile.return
}

// -----

tile.kernel @nothing() {
  // expected-error @+1 {{'tile.alloc' op allocates memref<4x0xf32>, which has no elements}}
  %a = tile.alloc : memref<4x0xf32>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.kernel @k() {
  // expected-error @+1 {{'tile.alloc' op begins at byte 24; the offset must be a multiple of 16}}
  %b = tile.alloc at 24 : !tile.buffer<8xf32, #o, shared>
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error @+1 {{'tile.alloc' op makes memref<8x?xf32>, expected a contiguous memref of static shape, without a memory space or in "shared"}}
  %b = tile.alloc : memref<8x?xf32>
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error @+1 {{expected a contiguous memref of static shape, without a memory space or in "shared"}}
  %b = tile.alloc : memref<8xf32, 3>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%m: memref<8xf32>, %i: index) {
  %v = tile.view %m : memref<8xf32> to !tile.view<8xf32>
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
  %t = tile.copy_async %v[%i] to %b : !tile.view<8xf32> to !tile.buffer<8xf32, #o, shared>
  // expected-error @+1 {{'tile.wait' op pending is -1}}
  tile.wait %t pending -1
  tile.return
}

// -----

tile.kernel @k(%m: memref<?xf32>, %i: index) {
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  // expected-error @+1 {{'tile.load' op moves 2 elements at once, but tensor<8xf32> has no layout; expected a kernel at the scheduled level}}
  %x = tile.load %v[%i] vector 2 : !tile.view<8xf32> -> tensor<8xf32>
  tile.return
}

// -----

#r = #tile.layout<reg [8:d0]>
tile.kernel @k(%m: memref<?xf32>, %i: index) {
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  %x = arith.constant dense<1.0> : tensor<8xf32, #r>
  // expected-error @+1 {{'tile.store' op vector is 3; expected a power of two}}
  tile.store %x, %v[%i] vector 3 : tensor<8xf32, #r>, !tile.view<8xf32>
  tile.return
}

// -----

#r = #tile.layout<reg [8:d0]>
tile.kernel @k(%m: memref<?xf32>, %i: index) {
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  // expected-error @+1 {{'tile.load' op has `late` but reads !tile.view<8xf32> into}}
  %x = tile.load %v[%i] late : !tile.view<8xf32> -> tensor<8xf32, #r>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
#r = #tile.layout<reg [8:d0]>
tile.kernel @k() {
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
  // expected-error @+1 {{'tile.load' op has both `vector` and `matrices`; an instruction moves either}}
  %x = tile.load %b vector 2 matrices 2 : !tile.buffer<8xf32, #o, shared> -> tensor<8xf32, #r>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
#r = #tile.layout<reg [8:d0]>
tile.kernel @k() {
  %b = tile.alloc : !tile.buffer<8xf32, #o, shared>
  // expected-error @+1 {{'tile.load' op matrices is 5, expected 2}}
  %x = tile.load %b matrices 5 : !tile.buffer<8xf32, #o, shared> -> tensor<8xf32, #r>
  tile.return
}

// -----

#o = #tile.layout<offset [8:d0]>
tile.kernel @k(%m: memref<?xf32>, %i: index) {
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  %b = tile.alloc : !tile.buffer<8xf32, #o, local>
  // expected-error @+1 {{'tile.copy' op `threads` does not fit !tile.buffer<8xf32, #tile.layout<offset [8:d0]>, local>}}
  tile.copy %v[%i] to %b threads(#tile.layout<reg [4:d0]>) : !tile.view<8xf32> to !tile.buffer<8xf32, #o, local>
  tile.return
}

// -----
tile.kernel @threads() attributes {warps = 4 : i32} {
  // expected-error@+1 {{threads: partition #0 has 2; the accepted values are 1, and none for all threads}}
  tile.warp_specialize
  partition "all" warps(4) threads(2) {
    tile.yield
  }
  tile.return
}

// -----
tile.kernel @arrivals() attributes {warps = 4 : i32} {
  // expected-error@+1 {{arrivals: 3; the accepted values are multiples of 2, which is in the type, up to 1048575}}
  %b = tile.alloc arrivals 3 : !tile.barrier<1, arrivals = 2>
  tile.return
}

// -----
tile.kernel @of_no_barrier() attributes {warps = 4 : i32} {
  // expected-error@+1 {{the attribute applies to barriers}}
  %b = tile.alloc arrivals 2 : memref<4xf32>
  tile.return
}

// -----
tile.kernel @scope_of_sync() attributes {warps = 4 : i32} {
  // expected-error@+1 {{'tile.sync' op has scope device, expected cluster or none}}
  tile.sync device
  tile.return
}

// -----
tile.kernel @cluster_in_partition() attributes {warps = 4 : i32} {
  tile.warp_specialize
  partition "all" warps(4) {
    // expected-error@+1 {{'tile.sync' op waits for the cluster in a partition of warps, expected outside of one}}
    tile.sync cluster
    tile.yield
  }
  tile.return
}

// -----
tile.kernel @everywhere_and_one(%r: index) attributes {warps = 4 : i32} {
  %b = tile.alloc : !tile.barrier<1>
  // expected-error@+1 {{arrives at several blocks' barriers and names one block; expected one of them}}
  tile.barrier_arrive %b[%r] cluster %r multicast [0] : !tile.barrier<1>
  tile.return
}

// -----
tile.kernel @everywhere_and_bytes(%r: index) attributes {warps = 4 : i32} {
  %b = tile.alloc : !tile.barrier<1>
  // expected-error@+1 {{arrives at several blocks' barriers and expects bytes; expected one of them}}
  tile.barrier_arrive %b[%r] expect 512 multicast [0] : !tile.barrier<1>
  tile.return
}

// -----

#l = #tile.layout<reg [4:d1, 4:d0]>
#o = #tile.layout<offset [4:d1, 4:d0]>
tile.kernel @k(%adds: i1) {
  %c = arith.constant dense<0.0> : tensor<4x4xf32, #l>
  %b = tile.alloc : !tile.buffer<4x4xf16, #o, shared>
  // expected-error @+1 {{'tile.mma_async' op has `adds`, expected none: its accumulator is a tile, which may be zero}}
  %u = tile.mma_async %b, %b, %c atom "a" adds %adds : !tile.buffer<4x4xf16, #o, shared>, !tile.buffer<4x4xf16, #o, shared> -> tensor<4x4xf32, #l>
  %v = tile.mma_wait %u pending 0 : tensor<4x4xf32, #l>
  tile.return
}

// -----

tile.kernel @k(%i: index) {
  %b = tile.alloc : !tile.barrier<1>
  // expected-error @+1 {{'tile.barrier_arrive' op arrives once products are done, and expects bytes; expected one of them}}
  tile.barrier_arrive %b[%i] expect 16 products : !tile.barrier<1>
  tile.return
}
