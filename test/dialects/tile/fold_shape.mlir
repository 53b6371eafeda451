// Folds and canonicalizations of the ops that move elements, each beside a case where nothing may happen.
// RUN: %tile_opt %s --canonicalize | FileCheck %s
// RUN: %mlir_opt_plugin %s --canonicalize | FileCheck %s

// CHECK-DAG: ![[TRANSPOSED:.*]] = !tile.view<32x8xf16, steps = [16, 8], strides = [2, 1], order = [1, 0], pad = neg_inf>

// CHECK-LABEL: tile.func @broadcast_of_constant
tile.func @broadcast_of_constant() -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[C:.*]] = arith.constant dense<1.500000e+00> : tensor<2x4xf32>
  // CHECK-NEXT: tile.return %[[C]]
  %c = arith.constant 1.5 : f32
  %b = tile.broadcast %c : f32 -> tensor<4xf32>
  %r = tile.broadcast %b axes [0] : tensor<4xf32> -> tensor<2x4xf32>
  tile.return %r : tensor<2x4xf32>
}

// CHECK-LABEL: tile.func @broadcast_of_broadcast
tile.func @broadcast_of_broadcast(%x: tensor<4xf32>, %s: f32) -> (tensor<2x4x3x5xf32>, tensor<2x4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = tile.broadcast %{{.*}} axes [0, 2, 3] : tensor<4xf32> -> tensor<2x4x3x5xf32>
  // CHECK-NEXT: %[[B:.*]] = tile.broadcast %{{.*}} : f32 -> tensor<2x4xf32>
  // CHECK-NEXT: tile.return %[[A]], %[[B]]
  %a = tile.broadcast %x axes [1] : tensor<4xf32> -> tensor<4x3xf32>
  %b = tile.broadcast %a axes [0, 3] : tensor<4x3xf32> -> tensor<2x4x3x5xf32>
  %c = tile.broadcast %s : f32 -> tensor<4xf32>
  %d = tile.broadcast %c axes [0] : tensor<4xf32> -> tensor<2x4xf32>
  tile.return %b, %d : tensor<2x4x3x5xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: tile.func @broadcast_to_reshape
tile.func @broadcast_to_reshape(%x: tensor<4xf32>) -> (tensor<1x4xf32>, tensor<2x4xf32>) {
  // CHECK: tile.reshape %{{.*}} : tensor<4xf32> -> tensor<1x4xf32>
  // CHECK: tile.broadcast %{{.*}} axes [0] : tensor<4xf32> -> tensor<2x4xf32>
  %a = tile.broadcast %x axes [0] : tensor<4xf32> -> tensor<1x4xf32>
  %b = tile.broadcast %x axes [0] : tensor<4xf32> -> tensor<2x4xf32>
  tile.return %a, %b : tensor<1x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: tile.func @reshape
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>)
tile.func @reshape(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<4x2xf32>, tensor<2x2xi32>) {
  // CHECK-NEXT: %[[C:.*]] = arith.constant dense<{{\[}}[1, 2], [3, 4]]> : tensor<2x2xi32>
  // CHECK-NEXT: %[[R:.*]] = tile.reshape %[[X]] : tensor<8xf32> -> tensor<4x2xf32>
  // CHECK-NEXT: tile.return %[[X]], %[[R]], %[[C]]
  %a = tile.reshape %x : tensor<8xf32> -> tensor<2x4xf32>
  %b = tile.reshape %a : tensor<2x4xf32> -> tensor<8xf32>
  %c = tile.reshape %a : tensor<2x4xf32> -> tensor<4x2xf32>
  %k = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %d = tile.reshape %k : tensor<4xi32> -> tensor<2x2xi32>
  tile.return %b, %c, %d : tensor<8xf32>, tensor<4x2xf32>, tensor<2x2xi32>
}

// CHECK-LABEL: tile.func @transpose
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[Y:.*]]: tensor<4x4xf32>)
tile.func @transpose(%x: tensor<2x3x4xf32>, %y: tensor<4x4xf32>) -> (tensor<2x3x4xf32>, tensor<3x2x4xf32>, tensor<4x4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = tile.transpose %[[X]] [1, 0, 2] : tensor<2x3x4xf32> -> tensor<3x2x4xf32>
  // CHECK-NEXT: %[[B:.*]] = tile.transpose %[[Y]] [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  // CHECK-NEXT: tile.return %[[X]], %[[A]], %[[B]]
  %a = tile.transpose %x [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %b = tile.transpose %a [1, 2, 0] : tensor<4x2x3xf32> -> tensor<2x3x4xf32>
  %c = tile.transpose %a [2, 1, 0] : tensor<4x2x3xf32> -> tensor<3x2x4xf32>
  %d = tile.transpose %y [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  tile.return %b, %c, %d : tensor<2x3x4xf32>, tensor<3x2x4xf32>, tensor<4x4xf32>
}

// A transposed load reads the transposed view.
// CHECK-LABEL: tile.func @transpose_of_load
tile.func @transpose_of_load(%m: memref<?x?x?xf16>, %b: index, %i: index, %j: index) -> tensor<32x8xf16> {
  // CHECK: %[[V:.*]] = tile.view %{{.*}}[%{{.*}}, _, _] : memref<?x?x?xf16> to ![[TRANSPOSED]]
  // CHECK-NEXT: %[[X:.*]] = tile.load %[[V]][%arg3, %arg2]
  // CHECK-NEXT: tile.return %[[X]]
  %v = tile.view %m[%b, _, _] : memref<?x?x?xf16> to !tile.view<8x32xf16, steps = [8, 16], strides = [1, 2], pad = neg_inf>
  %x = tile.load %v[%i, %j] : !tile.view<8x32xf16, steps = [8, 16], strides = [1, 2], pad = neg_inf> -> tensor<8x32xf16>
  %t = tile.transpose %x [1, 0] : tensor<8x32xf16> -> tensor<32x8xf16>
  tile.return %t : tensor<32x8xf16>
}

// Nothing: the tile is used as it was loaded, too.
// CHECK-LABEL: tile.func @transpose_of_used_load
tile.func @transpose_of_used_load(%m: memref<?x?xf16>, %i: index) -> (tensor<32x8xf16>, tensor<8x32xf16>) {
  // CHECK: tile.load
  // CHECK: tile.transpose
  // CHECK-NOT: tile.load
  %v = tile.view %m : memref<?x?xf16> to !tile.view<8x32xf16>
  %x = tile.load %v[%i, %i] : !tile.view<8x32xf16> -> tensor<8x32xf16>
  %t = tile.transpose %x [1, 0] : tensor<8x32xf16> -> tensor<32x8xf16>
  tile.return %t, %x : tensor<32x8xf16>, tensor<8x32xf16>
}

// CHECK-LABEL: tile.func @slice
// CHECK-SAME: (%[[X:.*]]: tensor<8x8xf32>, %[[I:.*]]: index)
tile.func @slice(%x: tensor<8x8xf32>, %i: index) -> (tensor<8x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = tile.slice %[[X]][3, 2] : tensor<8x8xf32> -> tensor<2x4xf32>
  // CHECK-NEXT: %[[B:.*]] = tile.slice %[[X]][%[[I]], 1] : tensor<8x8xf32> -> tensor<4x6xf32>
  // CHECK-NEXT: %[[C:.*]] = tile.slice %[[B]][1, 1] : tensor<4x6xf32> -> tensor<2x4xf32>
  // CHECK-NEXT: tile.return %[[X]], %[[A]], %[[C]]
  %a = tile.slice %x[0, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %b = tile.slice %x[2, 1] : tensor<8x8xf32> -> tensor<4x6xf32>
  %c = tile.slice %b[1, 1] : tensor<4x6xf32> -> tensor<2x4xf32>
  %d = tile.slice %x[%i, 1] : tensor<8x8xf32> -> tensor<4x6xf32>
  %e = tile.slice %d[1, 1] : tensor<4x6xf32> -> tensor<2x4xf32>
  tile.return %a, %c, %e : tensor<8x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: tile.func @slice_of_insert
// CHECK-SAME: (%[[S:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<8xf32>, %[[I:.*]]: index, %[[J:.*]]: index)
tile.func @slice_of_insert(%s: tensor<4xf32>, %x: tensor<8xf32>, %i: index, %j: index) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = tile.insert %[[S]] into %[[X]][%[[I]]]
  // CHECK-NEXT: %[[B:.*]] = tile.slice %[[A]][%[[J]]]
  // CHECK-NEXT: tile.return %[[S]], %[[B]]
  %a = tile.insert %s into %x[%i] : tensor<4xf32>, tensor<8xf32> -> tensor<8xf32>
  %b = tile.slice %a[%i] : tensor<8xf32> -> tensor<4xf32>
  %c = tile.slice %a[%j] : tensor<8xf32> -> tensor<4xf32>
  tile.return %b, %c : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: tile.func @slice_of_cat
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<6xf32>)
tile.func @slice_of_cat(%x: tensor<4xf32>, %y: tensor<6xf32>) -> (tensor<6xf32>, tensor<2xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = tile.cat %[[X]], %[[Y]]
  // CHECK-NEXT: %[[B:.*]] = tile.slice %[[Y]][3] : tensor<6xf32> -> tensor<2xf32>
  // CHECK-NEXT: %[[C:.*]] = tile.slice %[[A]][2] : tensor<10xf32> -> tensor<4xf32>
  // CHECK-NEXT: tile.return %[[Y]], %[[B]], %[[C]]
  %a = tile.cat %x, %y axis 0 : tensor<4xf32>, tensor<6xf32> -> tensor<10xf32>
  %b = tile.slice %a[4] : tensor<10xf32> -> tensor<6xf32>
  %c = tile.slice %a[7] : tensor<10xf32> -> tensor<2xf32>
  %d = tile.slice %a[2] : tensor<10xf32> -> tensor<4xf32>
  tile.return %b, %c, %d : tensor<6xf32>, tensor<2xf32>, tensor<4xf32>
}

// CHECK-LABEL: tile.func @slice_of_sort
tile.func @slice_of_sort(%x: tensor<64xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: tile.topk %{{.*}} axis 0 descending : tensor<64xf32> -> tensor<8xf32>
  // CHECK: %[[S:.*]] = tile.sort %{{.*}} axis 0 : tensor<64xf32>
  // CHECK: tile.slice %[[S]][8]
  %a = tile.sort %x axis 0 descending : tensor<64xf32>
  %b = tile.slice %a[0] : tensor<64xf32> -> tensor<8xf32>
  %c = tile.sort %x axis 0 : tensor<64xf32>
  %d = tile.slice %c[8] : tensor<64xf32> -> tensor<8xf32>
  tile.return %b, %d : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: tile.func @insert
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<8xf32>, %[[I:.*]]: index)
tile.func @insert(%x: tensor<8xf32>, %y: tensor<8xf32>, %i: index) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-NEXT: tile.return %[[X]], %[[Y]]
  %a = tile.insert %x into %y[0] : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %b = tile.slice %y[%i] : tensor<8xf32> -> tensor<4xf32>
  %c = tile.insert %b into %y[%i] : tensor<4xf32>, tensor<8xf32> -> tensor<8xf32>
  tile.return %a, %c : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: tile.func @cat
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
tile.func @cat(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<2x8xf32>, tensor<4x8xf32>) {
  // CHECK: %[[C:.*]] = arith.constant dense<0.000000e+00> : tensor<2x8xf32>
  // CHECK: %[[S:.*]] = tile.cat
  // CHECK: tile.return %[[X]], %[[X]], %[[C]], %[[S]]
  %a = tile.slice %x[0, 0] : tensor<4x8xf32> -> tensor<4x3xf32>
  %b = tile.slice %x[0, 3] : tensor<4x8xf32> -> tensor<4x5xf32>
  %c = tile.cat %a, %b axis 1 : tensor<4x3xf32>, tensor<4x5xf32> -> tensor<4x8xf32>
  %d = tile.cat %x axis 0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %z = arith.constant dense<0.0> : tensor<1x8xf32>
  %e = tile.cat %z, %z axis 0 : tensor<1x8xf32>, tensor<1x8xf32> -> tensor<2x8xf32>
  %s = tile.cat %b, %a axis 1 : tensor<4x5xf32>, tensor<4x3xf32> -> tensor<4x8xf32>
  tile.return %c, %d, %e, %s : tensor<4x8xf32>, tensor<4x8xf32>, tensor<2x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: tile.func @bitcast
// CHECK-SAME: (%[[X:.*]]: tensor<8xi8>)
tile.func @bitcast(%x: tensor<8xi8>) -> (tensor<8xi8>, tensor<2xi32>, tensor<8xf8E4M3FN>) {
  // CHECK-NEXT: %[[H:.*]] = tile.bitcast %[[X]] : tensor<8xi8> -> tensor<4xi16>
  // CHECK-NEXT: %[[W:.*]] = tile.bitcast %[[X]] : tensor<8xi8> -> tensor<2xi32>
  // CHECK-NEXT: %[[F:.*]] = tile.bitcast %[[H]] : tensor<4xi16> -> tensor<8xf8E4M3FN>
  // CHECK-NEXT: tile.return %[[X]], %[[W]], %[[F]]
  %a = tile.bitcast %x : tensor<8xi8> -> tensor<4xi16>
  %b = tile.bitcast %a : tensor<4xi16> -> tensor<8xi8>
  %c = tile.bitcast %a : tensor<4xi16> -> tensor<2xi32>
  %d = tile.bitcast %a : tensor<4xi16> -> tensor<8xf8E4M3FN>
  tile.return %b, %c, %d : tensor<8xi8>, tensor<2xi32>, tensor<8xf8E4M3FN>
}

#a = #tile.layout<reg [8:d0]>
#b = #tile.layout<lane [8:d0]>
#c = #tile.layout<warp [8:d0]>
// CHECK-LABEL: tile.kernel @convert_layout
tile.kernel @convert_layout(%m: memref<?xf32>, %i: index) {
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32, #{{.*}}>
  // CHECK: %[[X:.*]] = tile.load
  // CHECK: %[[Y:.*]] = tile.convert_layout %[[X]]
  // CHECK-NOT: tile.convert_layout
  // CHECK: tile.store %[[X]]
  // CHECK: tile.store %[[Y]]
  // CHECK: tile.store %[[ZERO]]
  %v = tile.view %m : memref<?xf32> to !tile.view<8xf32>
  %z = arith.constant dense<0.0> : tensor<8xf32, #a>
  %x = tile.load %v[%i] : !tile.view<8xf32> -> tensor<8xf32, #a>
  %y = tile.convert_layout %x : tensor<8xf32, #a> -> tensor<8xf32, #b>
  %p = tile.convert_layout %y : tensor<8xf32, #b> -> tensor<8xf32, #a>
  %q = tile.convert_layout %y : tensor<8xf32, #b> -> tensor<8xf32, #c>
  %r = tile.convert_layout %z : tensor<8xf32, #a> -> tensor<8xf32, #b>
  tile.store %p, %v[%i] : tensor<8xf32, #a>, !tile.view<8xf32>
  tile.store %q, %v[%i] : tensor<8xf32, #c>, !tile.view<8xf32>
  tile.store %r, %v[%i] : tensor<8xf32, #b>, !tile.view<8xf32>
  tile.return
}
