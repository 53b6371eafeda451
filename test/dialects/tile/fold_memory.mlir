// Folds and canonicalizations of what reaches memory, each beside a case where nothing may happen.
// RUN: %tile_opt %s --canonicalize | FileCheck %s
// RUN: %mlir_opt_plugin %s --canonicalize | FileCheck %s

// CHECK-LABEL: tile.func @num_tiles
tile.func @num_tiles(%m: memref<4x100x50xf32>, %d: memref<?xf32>, %i: index) -> (index, index, index, index, index) {
  // CHECK-DAG: %[[A:.*]] = arith.constant 7 : index
  // CHECK-DAG: %[[B:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[C:.*]] = arith.constant 70 : index
  // CHECK-DAG: %[[D:.*]] = arith.constant 1 : index
  // CHECK: %[[E:.*]] = tile.num_tiles
  // CHECK: tile.return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]]
  %v = tile.view %m[%i, _, _] : memref<4x100x50xf32> to !tile.view<16x32xf32>
  %a = tile.num_tiles %v dim 0 : !tile.view<16x32xf32>
  %t = tile.view %m[%i, _, _] : memref<4x100x50xf32> to !tile.view<32x16xf32, order = [1, 0]>
  %b = tile.num_tiles %t dim 0 : !tile.view<32x16xf32, order = [1, 0]>
  // An overlapping window of 16 elements, two apart: it spans 31 of 100.
  %w = tile.view %m[%i, _, %i] : memref<4x100x50xf32> to !tile.view<16xf32, steps = [1], strides = [2]>
  %c = tile.num_tiles %w dim 0 : !tile.view<16xf32, steps = [1], strides = [2]>
  %l = tile.view %m[_, %i, %i] : memref<4x100x50xf32> to !tile.view<64xf32>
  %e = tile.num_tiles %l dim 0 : !tile.view<64xf32>
  %u = tile.view %d : memref<?xf32> to !tile.view<64xf32>
  %f = tile.num_tiles %u dim 0 : !tile.view<64xf32>
  tile.return %a, %b, %c, %e, %f : index, index, index, index, index
}

// CHECK-LABEL: tile.func @in_bounds
tile.func @in_bounds(%m: memref<100xf32>, %i: index) -> (tensor<32xi1>, tensor<32xi1>, tensor<32xi1>) {
  // CHECK: %[[T:.*]] = arith.constant dense<true> : tensor<32xi1>
  // CHECK: %[[E:.*]] = tile.in_bounds
  // CHECK: %[[D:.*]] = tile.in_bounds
  // CHECK: tile.return %[[T]], %[[E]], %[[D]]
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %v = tile.view %m : memref<100xf32> to !tile.view<32xf32>
  %a = tile.in_bounds %v[%c2] : !tile.view<32xf32> -> tensor<32xi1>
  %b = tile.in_bounds %v[%c3] : !tile.view<32xf32> -> tensor<32xi1>
  %c = tile.in_bounds %v[%i] : !tile.view<32xf32> -> tensor<32xi1>
  tile.return %a, %b, %c : tensor<32xi1>, tensor<32xi1>, tensor<32xi1>
}

// CHECK-LABEL: tile.func @view_of_cast
// CHECK-SAME: (%[[M:.*]]: memref<100xf32>, %[[D:.*]]: memref<?xf32>)
tile.func @view_of_cast(%m: memref<100xf32>, %d: memref<?xf32>) -> (!tile.view<8xf32>, !tile.view<8xf32>) {
  // CHECK-NEXT: tile.view %[[M]] : memref<100xf32>
  // CHECK-NEXT: %[[C:.*]] = memref.cast %[[D]]
  // CHECK-NEXT: tile.view %[[C]] : memref<64xf32>
  %a = memref.cast %m : memref<100xf32> to memref<?xf32>
  %v = tile.view %a : memref<?xf32> to !tile.view<8xf32>
  %b = memref.cast %d : memref<?xf32> to memref<64xf32>
  %w = tile.view %b : memref<64xf32> to !tile.view<8xf32>
  tile.return %v, %w : !tile.view<8xf32>, !tile.view<8xf32>
}

// CHECK-LABEL: tile.func @view_of_subview
// CHECK-SAME: (%[[M:.*]]: memref<4x100x50xf32>, %[[I:.*]]: index, %[[J:.*]]: index)
tile.func @view_of_subview(%m: memref<4x100x50xf32>, %i: index, %j: index)
    -> (!tile.view<8xf32>, !tile.view<8x8xf32>, !tile.view<8xf32>) {
  // CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
  // CHECK-DAG: tile.view %[[M]][%[[I]], %[[J]], _] : memref<4x100x50xf32>
  // CHECK-DAG: tile.view %[[M]][%[[C3]], _, _] : memref<4x100x50xf32>
  // CHECK: %[[PART:.*]] = memref.subview
  // CHECK: tile.view %[[PART]]
  %a = memref.subview %m[%i, 0, 0] [1, 100, 50] [1, 1, 1] : memref<4x100x50xf32> to memref<100x50xf32, strided<[50, 1], offset: ?>>
  %v = tile.view %a[%j, _] : memref<100x50xf32, strided<[50, 1], offset: ?>> to !tile.view<8xf32>
  %b = memref.subview %m[3, 0, 0] [1, 100, 50] [1, 1, 1] : memref<4x100x50xf32> to memref<100x50xf32, strided<[50, 1], offset: 15000>>
  %w = tile.view %b : memref<100x50xf32, strided<[50, 1], offset: 15000>> to !tile.view<8x8xf32>
  // A part of a dimension: its edge is not the memref's.
  %c = memref.subview %m[0, 0, 0] [1, 1, 40] [1, 1, 1] : memref<4x100x50xf32> to memref<40xf32, strided<[1]>>
  %x = tile.view %c : memref<40xf32, strided<[1]>> to !tile.view<8xf32>
  tile.return %v, %w, %x : !tile.view<8xf32>, !tile.view<8x8xf32>, !tile.view<8xf32>
}

// CHECK-LABEL: tile.func @load_of_store
// CHECK-SAME: (%[[M:.*]]: memref<100xf32>, %[[X:.*]]: tensor<32xf32>, %[[I:.*]]: index)
tile.func @load_of_store(%m: memref<100xf32>, %x: tensor<32xf32>, %i: index) -> (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) {
  // CHECK: tile.store %[[X]], %[[V:.*]][%[[C0:.*]]]
  // CHECK: tile.store %[[X]], %[[V]][%[[C3:.*]]]
  // CHECK: %[[EDGE:.*]] = tile.load %[[V]][%[[C3]]]
  // CHECK: %[[AFTER:.*]] = tile.load %[[V]][%[[C0]]]
  // CHECK: tile.return %[[X]], %[[EDGE]], %[[AFTER]]
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %v = tile.view %m : memref<100xf32> to !tile.view<32xf32>
  tile.store %x, %v[%c0] : tensor<32xf32>, !tile.view<32xf32>
  %a = tile.load %v[%c0] : !tile.view<32xf32> -> tensor<32xf32>
  // At the edge a part is not stored, and loads as padding.
  tile.store %x, %v[%c3] : tensor<32xf32>, !tile.view<32xf32>
  %b = tile.load %v[%c3] : !tile.view<32xf32> -> tensor<32xf32>
  // Another store may have changed it.
  %c = tile.load %v[%c0] : !tile.view<32xf32> -> tensor<32xf32>
  tile.return %a, %b, %c : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>
}

#o = #tile.layout<offset [32:d0]>
// CHECK-LABEL: tile.func @load_of_stored_buffer
// CHECK-SAME: (%[[X:.*]]: tensor<32xf32>)
tile.func @load_of_stored_buffer(%x: tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
  // CHECK: tile.store
  // CHECK: tile.sync
  // CHECK: %[[Y:.*]] = tile.load
  // CHECK: tile.return %[[X]], %[[Y]]
  %b = tile.alloc : !tile.buffer<32xf32, #o, local>
  tile.store %x, %b : tensor<32xf32>, !tile.buffer<32xf32, #o, local>
  %y = tile.load %b : !tile.buffer<32xf32, #o, local> -> tensor<32xf32>
  tile.sync
  %z = tile.load %b : !tile.buffer<32xf32, #o, local> -> tensor<32xf32>
  tile.return %y, %z : tensor<32xf32>, tensor<32xf32>
}

// CHECK-LABEL: tile.func @gather
// CHECK-SAME: (%[[M:.*]]: memref<?x?xf32>, %[[P:.*]]: memref<?xf32>, %[[I:.*]]: index)
tile.func @gather(%m: memref<?x?xf32>, %p: memref<?xf32>, %i: index)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8xf32>) {
  // CHECK: %[[C2:.*]] = arith.constant 2 : index
  // CHECK: tile.load %[[V:.*]][%[[C2]], %[[I]]]
  // Out of step, and out of bounds: nothing.
  // CHECK: tile.gather
  // CHECK: tile.gather
  // CHECK: tile.gather %[[P]][%{{[a-z0-9_]+}}] bounds(trap) : memref<?xf32>[tensor<8xi32>]
  %v = tile.view %m : memref<?x?xf32> to !tile.view<8x4xf32>
  %c16 = arith.constant 16 : i32
  %c17 = arith.constant 17 : i32
  %r = tile.iota dim 0 from %c16 : tensor<8xi32>
  %s = tile.iota dim 0 from %c17 : tensor<8xi32>
  %a = tile.gather %v[%r, %i] bounds(drop) : !tile.view<8x4xf32>[tensor<8xi32>, index] -> tensor<8x4xf32>
  %b = tile.gather %v[%s, %i] bounds(drop) : !tile.view<8x4xf32>[tensor<8xi32>, index] -> tensor<8x4xf32>
  %c = tile.gather %v[%r, %i] bounds(trap) : !tile.view<8x4xf32>[tensor<8xi32>, index] -> tensor<8x4xf32>
  %mask = arith.constant dense<true> : tensor<8xi1>
  %other = arith.constant dense<1.0> : tensor<8xf32>
  %d = tile.gather %p[%r] mask %mask other %other bounds(trap) : memref<?xf32>[tensor<8xi32>] -> tensor<8xf32>
  tile.return %a, %b, %c, %d : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8xf32>
}

// CHECK-LABEL: tile.kernel @scatter
tile.kernel @scatter(%m: memref<?x?xf32>, %p: memref<?xi32>, %i: index) {
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] combine(add)
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}] bounds(drop) : tensor<8xi32>, memref<?xi32>[tensor<8xi32>]
  %v = tile.view %m : memref<?x?xf32> to !tile.view<8x4xf32>
  %r = tile.iota dim 0 : tensor<8xi32>
  %x = arith.constant dense<1.0> : tensor<8x4xf32>
  tile.scatter %x, %v[%r, %i] combine(add) bounds(drop) : tensor<8x4xf32>, !tile.view<8x4xf32>[tensor<8xi32>, index]
  %mask = arith.constant dense<true> : tensor<8xi1>
  tile.scatter %r, %p[%r] mask %mask bounds(drop) : tensor<8xi32>, memref<?xi32>[tensor<8xi32>]
  tile.return
}

// CHECK-LABEL: tile.func @atomic_rmw
tile.func @atomic_rmw(%p: memref<?xi32>, %q: memref<?xf32>, %x: tensor<8xi32>, %y: tensor<8xf32>, %s: i32, %i: index,
                      %mask: tensor<8xi1>) -> tensor<8xi32> {
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}] mask %{{.*}} combine(umax) bounds(trap) : tensor<8xi32>, memref<?xi32>[tensor<8xi32>]
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}] combine(add) bounds(trap) : tensor<8xf32>, memref<?xf32>[tensor<8xi32>]
  // Ordered, exchanging, wider than the device, used, on one element: nothing.
  // CHECK: tile.atomic_rmw add {{.*}} acq_rel device
  // CHECK: tile.atomic_rmw xchg
  // CHECK: tile.atomic_rmw add {{.*}} relaxed system
  // CHECK: tile.atomic_rmw add {{.*}} relaxed device : i32
  // CHECK: tile.atomic_rmw add {{.*}} relaxed device : tensor<8xi32>
  %r = tile.iota dim 0 : tensor<8xi32>
  %a = tile.atomic_rmw umax %x, %p[%r] mask %mask relaxed device : tensor<8xi32>, memref<?xi32>[tensor<8xi32>] -> tensor<8xi32>
  %b = tile.atomic_rmw fadd %y, %q[%r] relaxed block : tensor<8xf32>, memref<?xf32>[tensor<8xi32>] -> tensor<8xf32>
  %c = tile.atomic_rmw add %x, %p[%r] acq_rel device : tensor<8xi32>, memref<?xi32>[tensor<8xi32>] -> tensor<8xi32>
  %d = tile.atomic_rmw xchg %x, %p[%r] relaxed device : tensor<8xi32>, memref<?xi32>[tensor<8xi32>] -> tensor<8xi32>
  %e = tile.atomic_rmw add %x, %p[%r] relaxed system : tensor<8xi32>, memref<?xi32>[tensor<8xi32>] -> tensor<8xi32>
  %f = tile.atomic_rmw add %s, %p[%i] relaxed device : i32, memref<?xi32> -> i32
  %g = tile.atomic_rmw add %x, %p[%r] relaxed device : tensor<8xi32>, memref<?xi32>[tensor<8xi32>] -> tensor<8xi32>
  tile.return %g : tensor<8xi32>
}
