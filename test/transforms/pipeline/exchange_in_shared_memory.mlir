// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-exchange-in-shared-memory{chip=sm_80}))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-exchange-in-shared-memory{chip=sm_80}))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-exchange-in-shared-memory))' 2>&1 | FileCheck %s --check-prefix=NAMELESS
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-exchange-in-shared-memory{chip=x86-64-v4}))' 2>&1 | FileCheck %s --check-prefix=CPU

// COUNT-DAG: 1 conversions
// COUNT-DAG: 7 exchanges
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
