// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-exchange-in-shared-memory{chip=sm_80}))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-exchange-in-shared-memory{chip=sm_80}))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-exchange-in-shared-memory))' 2>&1 | FileCheck %s --check-prefix=NAMELESS
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-exchange-in-shared-memory{chip=x86-64-v4}))' 2>&1 | FileCheck %s --check-prefix=CPU

// COUNT-DAG: 8 conversions
// COUNT-DAG: 1 delayed
// COUNT-DAG: 17 exchanges
// NAMELESS: error: 'tile.kernel' op has no machine; the kernel, the module or the option chip must name one
// CPU: error: 'tile.kernel' op machine x86-64-v4 has no warp.width; threads exchange elements on GPUs only

#rows = #tile.layout<reg [8:d0*4], lane [32:d1], warp [4:d0]>
#columns = #tile.layout<reg [8:d1*4], lane [32:d0], warp [4:d1]>
#turned = #tile.layout<reg [8:d0*4], lane [2:d1*16, 16:d1], warp [4:d0]>

// Between warps: through a buffer. Between lanes: the conversion stays.
// CHECK-LABEL: tile.kernel @conversions
// CHECK: %[[A:.*]] = tile.load
// CHECK-NEXT: %[[B:.*]] = tile.alloc : !buffer
// CHECK-NEXT: tile.store %[[A]], %[[B]]
// CHECK-NEXT: %[[C:.*]] = tile.load %[[B]]
// CHECK-NEXT: tile.store %[[C]]
// CHECK-NEXT: %[[T:.*]] = tile.convert_layout %[[A]]
// CHECK-NEXT: tile.store %[[T]]
tile.kernel @conversions(%x: memref<32x32xf32>, %y: memref<32x32xf32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<32x32xf32> to !tile.view<32x32xf32>
  %Y = tile.view %y : memref<32x32xf32> to !tile.view<32x32xf32>
  %a = tile.load %X[%c0, %c0] : !tile.view<32x32xf32> -> tensor<32x32xf32, #rows>
  %b = tile.convert_layout %a : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #columns>
  tile.store %b, %Y[%c0, %c0] : tensor<32x32xf32, #columns>, !tile.view<32x32xf32>
  %t = tile.convert_layout %a : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #turned>
  tile.store %t, %Y[%c0, %c0] : tensor<32x32xf32, #turned>, !tile.view<32x32xf32>
  tile.return
}

// -----

#rows = #tile.layout<reg [8:d0*4], lane [32:d1], warp [4:d0]>
#part = #tile.layout<reg [4:d0*4], lane [16:d1, 2:_], warp [4:d0]>
#half = #tile.layout<reg [4:d0*4], lane [32:d1], warp [4:d0]>
// Parts are read at their offsets from a memref that holds the whole; what is inserted is read where it lies, and the
// rest stays. Where threads have what they need, the ops stay.
// CHECK-LABEL: tile.kernel @parts
// CHECK: %[[A:.*]] = tile.load
// CHECK: %[[M:.*]] = tile.alloc : memref<32x32xf32>
// CHECK: tile.store %[[A]],
// CHECK: %[[V:.*]] = tile.view %[[M]] : memref<32x32xf32> to !view
// CHECK: %[[S:.*]] = tile.load %[[V]][%{{.*}}, %{{.*}}]
// CHECK: %[[N:.*]] = tile.alloc : memref<16x16xf32>
// CHECK: tile.store %[[S]],
// CHECK: %[[W:.*]] = tile.view %[[N]] : memref<16x16xf32> to !view
// CHECK: %[[IN:.*]] = tile.in_bounds %[[W]]
// CHECK: %[[NEW:.*]] = tile.load %[[W]]
// CHECK: %[[R:.*]] = arith.select %[[IN]], %[[NEW]], %[[A]]
// CHECK: tile.slice %[[R]][0, 0]
// CHECK: tile.slice %[[R]][16, 0]
// CHECK: tile.cat
tile.kernel @parts(%x: memref<32x32xf32>, %k: index) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<32x32xf32> to !tile.view<32x32xf32>
  %a = tile.load %X[%c0, %c0] : !tile.view<32x32xf32> -> tensor<32x32xf32, #rows>
  %s = tile.slice %a[%k, 3] : tensor<32x32xf32, #rows> -> tensor<16x16xf32, #part>
  %r = tile.insert %s into %a[1, %k] : tensor<16x16xf32, #part>, tensor<32x32xf32, #rows> -> tensor<32x32xf32, #rows>
  %u = tile.slice %r[0, 0] : tensor<32x32xf32, #rows> -> tensor<16x32xf32, #half>
  %v = tile.slice %r[16, 0] : tensor<32x32xf32, #rows> -> tensor<16x32xf32, #half>
  %w = tile.cat %v, %u axis 0 : tensor<16x32xf32, #half>, tensor<16x32xf32, #half> -> tensor<32x32xf32, #rows>
  tile.store %w, %X[%c0, %c0] : tensor<32x32xf32, #rows>, !tile.view<32x32xf32>
  tile.return
}

// -----

#l = #tile.layout<reg [2:d0*64], lane [32:d0], warp [2:d0*32]>
#bins = #tile.layout<lane [16:d0, 2:_], warp [2:_]>
#wide = #tile.layout<reg [2:d0*4, 5:d1], lane [4:d0, 8:_], warp [2:_]>
#long = #tile.layout<reg [2:d1, 5:d0*4], lane [4:d0, 8:_], warp [2:_]>
#half = #tile.layout<lane [32:d0], warp [2:d0*32]>
#whole = #tile.layout<reg [2:d0, 3:d0*64], lane [32:d0*2], warp [2:_]>
// Computed places: a gather from a memref; a histogram in counters, to which a scatter adds; a cat by stores at offsets;
// a reshape whose odd factors do not line up by a gather.
// CHECK-LABEL: tile.kernel @places
// CHECK: %[[M:.*]] = tile.alloc : memref<128xf32>
// CHECK: tile.gather %[[M]][%{{.*}}] bounds(clamp)
// CHECK: %[[C:.*]] = tile.alloc : memref<16xi32>
// CHECK: tile.store
// CHECK: tile.scatter %{{.*}}, %[[C]][%{{.*}}] combine(add) bounds(drop)
// CHECK: tile.view %[[C]]
// CHECK-NEXT: tile.load
// CHECK: %[[L:.*]] = tile.alloc : memref<192xf32>
// CHECK: tile.store
// CHECK: tile.store
// CHECK: tile.view %[[L]]
// CHECK: %[[N:.*]] = tile.alloc : memref<8x5xf32>
// CHECK: tile.gather %[[N]][%{{.*}}, %{{.*}}] bounds(drop)
// CHECK-NOT: tile.histogram
tile.kernel @places(%x: memref<128xf32>, %n: memref<128xi32>, %h: memref<16xi32>, %w: memref<8x5xf32>, %y: memref<192xf32>, %z: memref<20x2xf32>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128xf32> to !tile.view<128xf32>
  %N = tile.view %n : memref<128xi32> to !tile.view<128xi32>
  %H = tile.view %h : memref<16xi32> to !tile.view<16xi32>
  %W = tile.view %w : memref<8x5xf32> to !tile.view<8x5xf32>
  %Y = tile.view %y : memref<192xf32> to !tile.view<192xf32>
  %Z = tile.view %z : memref<20x2xf32> to !tile.view<20x2xf32>
  %a = tile.load %X[%c0] : !tile.view<128xf32> -> tensor<128xf32, #l>
  %i = tile.load %N[%c0] : !tile.view<128xi32> -> tensor<128xi32, #l>
  %g = tile.gather %a[%i] axis 0 bounds(clamp) : tensor<128xf32, #l>[tensor<128xi32, #l>] -> tensor<128xf32, #l>
  tile.store %g, %X[%c0] : tensor<128xf32, #l>, !tile.view<128xf32>
  %c = tile.histogram %i : tensor<128xi32, #l> -> tensor<16xi32, #bins>
  tile.store %c, %H[%c0] : tensor<16xi32, #bins>, !tile.view<16xi32>
  %half = tile.slice %g[0] : tensor<128xf32, #l> -> tensor<64xf32, #half>
  %cat = tile.cat %a, %half axis 0 : tensor<128xf32, #l>, tensor<64xf32, #half> -> tensor<192xf32, #whole>
  tile.store %cat, %Y[%c0] : tensor<192xf32, #whole>, !tile.view<192xf32>
  %b = tile.load %W[%c0, %c0] : !tile.view<8x5xf32> -> tensor<8x5xf32, #wide>
  %r = tile.reshape %b : tensor<8x5xf32, #wide> -> tensor<20x2xf32, #long>
  tile.store %r, %Z[%c0, %c0] : tensor<20x2xf32, #long>, !tile.view<20x2xf32>
  tile.return
}

// -----

#rows = #tile.layout<reg [8:d0*4], lane [32:d1], warp [4:d0]>
#column = #tile.layout<reg [8:d0*4], lane [32:_], warp [4:d0]>
// Along an axis that lanes share, nothing changes. Along one that warps share, each warp adds what it has; the four
// sums go to all warps, and are added again.
// CHECK-LABEL: tile.kernel @reduce
// CHECK: %[[X:.*]] = tile.load
// CHECK-NEXT: tile.reduce {arith.addf} %[[X]] axes [1]
// CHECK: %[[V:.*]] = tile.reshape %[[X]] : {{.*}} -> tensor<8x4x32xf32
// CHECK-NEXT: %[[P:.*]] = tile.reduce {arith.addf} %[[V]] axes [0, 2] : {{.*}} -> tensor<4xf32
// CHECK-NEXT: %[[B:.*]] = tile.alloc
// CHECK-NEXT: tile.store %[[P]], %[[B]]
// CHECK-NEXT: %[[A:.*]] = tile.load %[[B]]
// CHECK-NEXT: tile.reduce {arith.addf} %[[A]] axes [0] : {{.*}} -> f32
tile.kernel @reduce(%x: memref<32x32xf32>, %y: memref<32xf32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<32x32xf32> to !tile.view<32x32xf32>
  %Y = tile.view %y : memref<32xf32> to !tile.view<32xf32>
  %a = tile.load %X[%c0, %c0] : !tile.view<32x32xf32> -> tensor<32x32xf32, #rows>
  %r = tile.reduce {arith.addf} %a axes [1] : tensor<32x32xf32, #rows> -> tensor<32xf32, #column>
  tile.store %r, %Y[%c0] : tensor<32xf32, #column>, !tile.view<32xf32>
  %s = tile.reduce {arith.addf} %a axes [0, 1] : tensor<32x32xf32, #rows> -> f32
  memref.store %s, %y[%c0] : memref<32xf32>
  tile.return
}

// -----

#rows = #tile.layout<reg [2:d1*64, 2:d0], lane [32:d1], warp [2:d1*32]>
#column = #tile.layout<reg [2:d0], lane [32:_], warp [2:_]>
// A loop that adds up what it reduces: each thread adds up its own, and the threads exchange theirs behind the loop, where
// the first sums are added.
// CHECK-LABEL: tile.kernel @delayed
// CHECK: %[[FIRST:.*]] = arith.constant dense<1.000000e+00>
// CHECK: %[[NONE:.*]] = arith.constant dense<-0.000000e+00> : tensor<2x64xf32
// CHECK: %[[OWN:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[NONE]]) -> (tensor<2x64xf32
// CHECK: tile.reduce {arith.addf} %{{.*}} axes [1] : {{.*}} -> tensor<2x64xf32
// CHECK-NEXT: arith.addf %[[A]], %{{.*}} : tensor<2x64xf32
// CHECK-NEXT: scf.yield
// CHECK: tile.reduce {arith.addf} %{{.*}} axes [2] : {{.*}} -> tensor<2x2xf32
// CHECK: tile.alloc
// CHECK: %[[ALL:.*]] = tile.reduce {arith.addf} %{{.*}} axes [1] : {{.*}} -> tensor<2xf32
// CHECK: arith.addf %[[FIRST]], %[[ALL]]
tile.kernel @delayed(%x: memref<2x1024xf32>, %y: memref<2xf32>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %first = arith.constant dense<1.0> : tensor<2xf32, #column>
  %X = tile.view %x : memref<2x1024xf32> to !tile.view<2x128xf32>
  %Y = tile.view %y : memref<2xf32> to !tile.view<2xf32>
  %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %first) -> (tensor<2xf32, #column>) {
    %t = tile.load %X[%c0, %i] : !tile.view<2x128xf32> -> tensor<2x128xf32, #rows>
    %r = tile.reduce {arith.addf} %t axes [1] : tensor<2x128xf32, #rows> -> tensor<2xf32, #column>
    %b = arith.addf %a, %r : tensor<2xf32, #column>
    scf.yield %b : tensor<2xf32, #column>
  }
  tile.store %s, %Y[%c0] : tensor<2xf32, #column>, !tile.view<2xf32>
  tile.return
}

// -----

#rows = #tile.layout<reg [2:d1*64, 2:d0], lane [32:d1], warp [2:d1*32]>
#column = #tile.layout<reg [2:d0], lane [32:_], warp [2:_]>
// The loop asks for the sums in each round, or combines them in another way than it reduces: the reductions stay.
// CHECK-LABEL: tile.kernel @asked
// CHECK: scf.for {{.*}} -> (tensor<2xf32, {{.*}}>, tensor<2xf32
tile.kernel @asked(%x: memref<2x1024xf32>, %y: memref<2xf32>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %first = arith.constant dense<1.0> : tensor<2xf32, #column>
  %X = tile.view %x : memref<2x1024xf32> to !tile.view<2x128xf32>
  %Y = tile.view %y : memref<2xf32> to !tile.view<2xf32>
  %s, %m = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %first, %b = %first) -> (tensor<2xf32, #column>, tensor<2xf32, #column>) {
    %t = tile.load %X[%c0, %i] : !tile.view<2x128xf32> -> tensor<2x128xf32, #rows>
    %r = tile.reduce {arith.addf} %t axes [1] : tensor<2x128xf32, #rows> -> tensor<2xf32, #column>
    %q = tile.reduce {arith.addf} %t axes [1] : tensor<2x128xf32, #rows> -> tensor<2xf32, #column>
    %n = arith.addf %a, %r : tensor<2xf32, #column>
    %o = arith.maximumf %b, %q : tensor<2xf32, #column>
    tile.store %n, %Y[%c0] : tensor<2xf32, #column>, !tile.view<2xf32>
    scf.yield %n, %o : tensor<2xf32, #column>, tensor<2xf32, #column>
  }
  tile.store %m, %Y[%c0] : tensor<2xf32, #column>, !tile.view<2xf32>
  tile.return
}

// -----

#l = #tile.layout<lane [32:d0], warp [4:d0*32]>
// A region keeps the order of its elements: what lies nearer than the warps is combined first. The layout reaches beyond
// the tile, which is filled up with what combines without effect. All stores stand ahead of the first load.
// CHECK-LABEL: tile.kernel @argmax
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[N:.*]] = tile.iota
// CHECK: %[[E:.*]] = arith.constant dense<0xFF800000> : tensor<128xf32
// CHECK: tile.insert %[[X]] into %[[E]][0]
// CHECK: tile.insert %[[N]] into
// CHECK: %[[P:.*]]:2 = tile.reduce {{.*}} axes [1] neutral {{.*}} -> tensor<4xf32, {{.*}}>, tensor<4xi32, {{.*}}>
// CHECK: tile.store %[[P]]#0
// CHECK: tile.store %[[P]]#1
// CHECK: tile.load
// CHECK: tile.load
// CHECK: tile.reduce {{.*}} axes [0] neutral {{.*}} -> f32, i32
tile.kernel @argmax(%x: memref<100xf32>, %y: memref<1xi32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<100xf32> to !tile.view<100xf32>
  %a = tile.load %X[%c0] : !tile.view<100xf32> -> tensor<100xf32, #l>
  %n = tile.iota dim 0 : tensor<100xi32, #l>
  %m, %i = tile.reduce %a, %n axes [0] neutral [0xFF800000 : f32, 0 : i32]
      : tensor<100xf32, #l>, tensor<100xi32, #l> -> f32, i32 {
  ^bb0(%p: f32, %pi: i32, %q: f32, %qi: i32):
    %more = arith.cmpf ogt, %q, %p : f32
    %v = arith.select %more, %q, %p : f32
    %vi = arith.select %more, %qi, %pi : i32
    tile.yield %v, %vi : f32, i32
  }
  memref.store %i, %y[%c0] : memref<1xi32>
  tile.return
}

// -----

#l = #tile.layout<reg [2:d0], lane [32:d0*2], warp [4:d0*64]>
// Each warp scans its part; what the parts come to is scanned, and enters the elements of the later warps.
// CHECK-LABEL: tile.kernel @scan
// CHECK: %[[V:.*]] = tile.reshape {{.*}} -> tensor<4x64xf32
// CHECK: %[[N:.*]] = arith.constant dense<-0.000000e+00> : tensor<4xf32
// CHECK: %[[P:.*]]:2 = tile.scan {arith.addf} %[[V]] init %[[N]] axis 1
// CHECK: tile.store %[[P]]#1
// CHECK: %[[S:.*]]:2 = tile.scan {arith.addf} %{{.*}} init %{{.*}} axis 0 exclusive
// CHECK: %[[B:.*]] = tile.broadcast %{{.*}} axes [1]
// CHECK: %[[R:.*]] = arith.addf %[[B]], %[[P]]#0
// CHECK: tile.reshape %[[R]] : {{.*}} -> tensor<256xf32
// CHECK: memref.store %[[S]]#1
tile.kernel @scan(%x: memref<256xf32>, %y: memref<1xf32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %X = tile.view %x : memref<256xf32> to !tile.view<256xf32>
  %a = tile.load %X[%c0] : !tile.view<256xf32> -> tensor<256xf32, #l>
  %s, %t = tile.scan {arith.addf} %a init %zero axis 0 : tensor<256xf32, #l>, f32
  tile.store %s, %X[%c0] : tensor<256xf32, #l>, !tile.view<256xf32>
  memref.store %t, %y[%c0] : memref<1xf32>
  tile.return
}

// -----

#l = #tile.layout<lane [32:d0], warp [4:_]>
#w = #tile.layout<reg [2:_], lane [8:d0, 4:_], warp [4:_]>
// Elements of a table, what an atomic read, bits that other threads hold, and what one thread prints.
// CHECK-LABEL: tile.kernel @values
// CHECK: %[[T:.*]] = tile.alloc : memref<2xi32>
// CHECK: memref.store %{{.*}}, %[[T]]
// CHECK: memref.store %{{.*}}, %[[T]]
// CHECK: tile.load
// CHECK: %[[OLD:.*]] = tile.atomic_rmw
// CHECK: %[[M:.*]] = tile.alloc : memref<1xi32>
// CHECK-NEXT: memref.store %[[OLD]], %[[M]]
// CHECK-NEXT: memref.load %[[M]]
// CHECK: %[[B:.*]] = tile.convert_layout {{.*}} -> tensor<32xi8
// CHECK: tile.bitcast %[[B]] : {{.*}} -> tensor<8xi32
// CHECK: %[[D:.*]] = tile.alloc : memref<8xi32>
// CHECK: tile.print "{} of {}", %{{.*}}, %[[D]] : index, memref<8xi32>
tile.kernel @values(%m: memref<4xi32>, %x: memref<32xi8>, %y: memref<2xi32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %X = tile.view %x : memref<32xi8> to !tile.view<32xi8>
  %Y = tile.view %y : memref<2xi32> to !tile.view<2xi32>
  %table = arith.constant dense<[3, 5]> : tensor<2xi32, #tile.layout<lane [2:d0, 16:_], warp [4:_]>>
  tile.store %table, %Y[%c0] : tensor<2xi32, #tile.layout<lane [2:d0, 16:_], warp [4:_]>>, !tile.view<2xi32>
  %old = tile.atomic_rmw add %one, %m[%c0] relaxed device : i32, memref<4xi32> -> i32
  %at = arith.index_cast %old : i32 to index
  %a = tile.load %X[%at] : !tile.view<32xi8> -> tensor<32xi8, #l>
  %b = tile.bitcast %a : tensor<32xi8, #l> -> tensor<8xi32, #w>
  tile.print "{} of {}", %at, %b : index, tensor<8xi32, #w>
  tile.return
}

// -----

#l = #tile.layout<lane [32:d0], warp [2:d0*32]>
// Rows are filled up to a power of two, and memory to two elements for each of 64 threads. A key of 32 bits and its
// position are one word. At each step a thread reads a pair of words and writes it back in order; one barrier ends the
// step.
// CHECK-LABEL: tile.kernel @sort
// CHECK: %[[K:.*]] = tile.alloc : memref<128xi64, "shared">
// CHECK-NOT: tile.alloc : memref<128xi32
// CHECK-NOT: tile.sync
// CHECK: tile.scatter {{.*}} %[[K]]{{.*}} bounds(drop)
// CHECK: tile.scatter {{.*}} mask %{{.*}} bounds(drop)
// CHECK: tile.sync
// CHECK-NOT: mask
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-2: tile.gather %[[K]]
// CHECK-COUNT-2: tile.scatter {{.*}} bounds(drop)
// CHECK-NEXT: tile.sync
// CHECK-NOT: mask
// CHECK: tile.gather %[[K]]{{.*}} -> tensor<50xi64
// CHECK: tile.gather {{.*}} -> tensor<50xf32
// CHECK-NOT: tile.sort
tile.kernel @sort(%x: memref<50xf32>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<50xf32> to !tile.view<50xf32>
  %a = tile.load %X[%c0] : !tile.view<50xf32> -> tensor<50xf32, #l>
  %s = tile.sort %a axis 0 : tensor<50xf32, #l>
  tile.store %s, %X[%c0] : tensor<50xf32, #l>, !tile.view<50xf32>
  tile.return
}

// -----

#l = #tile.layout<lane [32:d0], warp [2:d0*32]>
// Keys of 64 bits have their positions in a memory of their own. 128 elements are 64 pairs, one for each thread: no
// access has a mask.
// CHECK-LABEL: tile.kernel @sort_wide
// CHECK: %[[K:.*]] = tile.alloc : memref<128xi64, "shared">
// CHECK: %[[P:.*]] = tile.alloc : memref<128xi32, "shared">
// CHECK-NOT: mask
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tile.gather %[[K]]
// CHECK: tile.gather %[[P]]
// CHECK: tile.gather %[[K]]
// CHECK: tile.gather %[[P]]
// CHECK-COUNT-4: tile.scatter
// CHECK-NEXT: tile.sync
// CHECK-NOT: mask
// CHECK: tile.gather %[[P]]{{.*}} -> tensor<128xi32
tile.kernel @sort_wide(%x: memref<128xf64>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<128xf64> to !tile.view<128xf64>
  %a = tile.load %X[%c0] : !tile.view<128xf64> -> tensor<128xf64, #tile.layout<reg [2:d0*64], lane [32:d0], warp [2:d0*32]>>
  %s = tile.sort %a axis 0 : tensor<128xf64, #tile.layout<reg [2:d0*64], lane [32:d0], warp [2:d0*32]>>
  tile.store %s, %X[%c0] : tensor<128xf64, #tile.layout<reg [2:d0*64], lane [32:d0], warp [2:d0*32]>>, !tile.view<128xf64>
  tile.return
}
