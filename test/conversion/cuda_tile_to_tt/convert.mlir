// RUN: tile-opt %s --convert-cuda-tile-to-tt | FileCheck %s

// A partition view is a descriptor; an infinite padding asks for pointers and a mask.
// CHECK-LABEL: tt.func @views
// CHECK-SAME: %[[P:.*]]: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %[[N:.*]]: i32
cuda_tile.entry @views(%p: tensor<!cuda_tile.ptr<f32>>, %n: tensor<i32>) {
  %q = cuda_tile.assume div_by<16>, %p : tile<ptr<f32>>
  %t = cuda_tile.make_tensor_view %q, shape = [%n], strides = [] : (tile<ptr<f32>>, tile<i32>) -> tensor_view<?xf32, strides=[1]>
  %i:3 = cuda_tile.get_tile_block_id : tile<i32>
  // CHECK: %[[D:.*]] = tt.make_tensor_descriptor %[[P]], [%[[N]]], [%{{.*}}] : <f32>, <64xf32>
  // CHECK: tt.descriptor_load %[[D]][%{{.*}}]
  %a = cuda_tile.make_partition_view %t : partition_view<tile=(64), padding_value = zero, tensor_view<?xf32, strides=[1]>>
  %x, %x1 = cuda_tile.load_view_tko weak %a[%i#0] : (partition_view<tile=(64), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32>) -> (tile<64xf32>, token)
  // CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x!tt.ptr<f32>>
  %b = cuda_tile.make_partition_view %t : partition_view<tile=(64), padding_value = neg_inf, tensor_view<?xf32, strides=[1]>>
  %y, %y1 = cuda_tile.load_view_tko weak %b[%i#0] : (partition_view<tile=(64), padding_value = neg_inf, tensor_view<?xf32, strides=[1]>>, tile<i32>) -> (tile<64xf32>, token)
  // CHECK: arith.maximumf
  %z = cuda_tile.maxf %x, %y propagate_nan : tile<64xf32>
  %s = cuda_tile.store_view_tko weak %z, %a[%i#0] : (tile<64xf32>, partition_view<tile=(64), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32>) -> token
  cuda_tile.return
}

// The pairs of a reduction's region are taken apart.
// CHECK-LABEL: tt.func @pairs
cuda_tile.entry @pairs(%p: tensor<!cuda_tile.ptr<i32>>) {
  %x = cuda_tile.constant dense<1.0> : tensor<8xf32>
  %i = cuda_tile.iota : tile<8xi32>
  // CHECK: "tt.reduce"
  // CHECK: ^bb0(%[[A:.*]]: f32, %[[I:.*]]: i32, %[[B:.*]]: f32, %[[J:.*]]: i32):
  // CHECK: arith.cmpf olt, %[[A]], %[[B]] : f32
  // CHECK: arith.select %{{.*}}, %[[I]], %[[J]] : i32
  %r:2 = "cuda_tile.reduce"(%x, %i) <{dim = 0 : i64, identities = [0.0 : f32, 0 : i32]}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %less = cuda_tile.cmpf less_than ordered %a, %b : tile<f32> -> tile<i1>
    %v = cuda_tile.select %less, %a, %b : tile<i1>, tile<f32>
    %k = cuda_tile.select %less, %c, %d : tile<i1>, tile<i32>
    cuda_tile.yield %v, %k : tile<f32>, tile<i32>
  }) : (tensor<8xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<i32>)
  %s = cuda_tile.store_ptr_tko weak %p, %r#1 : (tile<ptr<i32>>, tile<i32>) -> token
  cuda_tile.return
}

// A kernel without break stays structured: its tokens are gone.
// CHECK-LABEL: tt.func @structured
cuda_tile.entry @structured(%p: tensor<!cuda_tile.ptr<f32>>, %n: tensor<i32>) {
  %zero = cuda_tile.constant dense<0> : tensor<i32>
  %one = cuda_tile.constant dense<1> : tensor<i32>
  %t = cuda_tile.make_token : token
  %f = cuda_tile.constant dense<0.0> : tensor<f32>
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32) : i32 {
  %r:2 = "cuda_tile.for"(%zero, %n, %one, %f, %t) ({
  ^bb0(%i: tensor<i32>, %sum: tensor<f32>, %token: !cuda_tile.token):
    cuda_tile.continue %sum, %t : tile<f32>, token
  }) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>, !cuda_tile.token) -> (tensor<f32>, !cuda_tile.token)
  %s = cuda_tile.store_ptr_tko weak %p, %r#0 token = %r#1 : (tile<ptr<f32>>, tile<f32>, token) -> token
  cuda_tile.return
}

// CHECK-LABEL: tt.func @leaves
// CHECK: cf.br
// CHECK: cf.cond_br
cuda_tile.entry @leaves(%p: tensor<!cuda_tile.ptr<f32>>, %c: tensor<i1>) {
  %f = cuda_tile.constant dense<0.0> : tensor<f32>
  %r = "cuda_tile.loop"(%f) ({
  ^bb0(%x: tensor<f32>):
    "cuda_tile.if"(%c) ({
      cuda_tile.break %x : tile<f32>
    }, {
      cuda_tile.yield
    }) : (tensor<i1>) -> ()
    %y = cuda_tile.addf %x, %x : tile<f32>
    cuda_tile.continue %y : tile<f32>
  }) : (tensor<f32>) -> tensor<f32>
  %s = cuda_tile.store_ptr_tko weak %p, %r : (tile<ptr<f32>>, tile<f32>) -> token
  cuda_tile.return
}

// Accesses in an order of memory, or by a tile of places, go through pointers.
// CHECK-LABEL: tt.func @ordered
cuda_tile.entry @ordered(%p: tensor<!cuda_tile.ptr<f32>>, %n: tensor<i32>) {
  %i = cuda_tile.iota : tile<8xi32>
  %t = cuda_tile.make_tensor_view %p, shape = [%n], strides = [] : (tile<ptr<f32>>, tile<i32>) -> tensor_view<?xf32, strides=[1]>
  %a = cuda_tile.make_partition_view %t : partition_view<tile=(8), padding_value = zero, tensor_view<?xf32, strides=[1]>>
  // CHECK: %[[X:.*]] = tt.atomic_load acquire, gpu, %{{.*}}, %[[M:.*]] :
  // CHECK: arith.select %[[M]], %[[X]], %{{.*}} : tensor<8xi1>, tensor<8xf32>
  %x, %x1 = cuda_tile.load_view_tko acquire device %a[%n] : (partition_view<tile=(8), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32>) -> (tile<8xf32>, token)
  // CHECK: tt.atomic_store release, sys,
  %s = cuda_tile.store_view_tko release sys %x, %a[%n] : (tile<8xf32>, partition_view<tile=(8), padding_value = zero, tensor_view<?xf32, strides=[1]>>, tile<i32>) -> token
  %g = cuda_tile.make_gather_scatter_view %t : gather_scatter_view<tile=(8), padding_value = zero, tensor_view<?xf32, strides=[1]>, sparse_dim=0>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>
  %y, %y1 = cuda_tile.load_view_tko weak %g[%i] : (gather_scatter_view<tile=(8), padding_value = zero, tensor_view<?xf32, strides=[1]>, sparse_dim=0>, tile<8xi32>) -> (tile<8xf32>, token)
  cuda_tile.return
}

// CHECK-LABEL: tt.func @masked
// CHECK: scf.if %{{.*}} -> (i32) {
// CHECK-NEXT: tt.atomic_cas relaxed, gpu
// CHECK-NEXT: scf.yield
cuda_tile.entry @masked(%p: tensor<!cuda_tile.ptr<i32>>, %m: tensor<i1>, %x: tensor<i32>) {
  %old, %t = cuda_tile.atomic_cas_tko relaxed device %p, %x, %x mask = %m : (tile<ptr<i32>>, tile<i32>, tile<i32>, tile<i1>) -> (tile<i32>, token)
  cuda_tile.return
}
