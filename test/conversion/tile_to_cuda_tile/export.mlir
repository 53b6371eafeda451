// RUN: tile-opt %s --convert-tile-to-cuda-tile | FileCheck %s
// RUN: tile-opt %s --convert-tile-to-cuda-tile=version=1 | FileCheck %s --check-prefix=OLD
// RUN: tile-translate %s --tile-to-cuda-tile -o %t && tile-translate %t --import-cuda-tile | FileCheck %s --check-prefix=BACK

// A view is a partition_view with the view's padding. Open sizes and strides are parameters; an index is an i64.
// CHECK-LABEL: cuda_tile.entry @double(
// CHECK-SAME: %[[P:.*]]: tensor<!cuda_tile.ptr<f32>>, %[[N:.*]]: tensor<i64>, %[[S:.*]]: tensor<i64>, %[[Q:.*]]: tensor<!cuda_tile.ptr<f32>>)
// CHECK: get_tile_block_id : tile<i32>
// CHECK: %[[X:.*]] = cuda_tile.make_tensor_view %[[P]], shape = [%[[N]]], strides = [%[[S]]] {{.*}} -> tensor_view<?x8xf32, strides=[?,1]>
// CHECK: make_partition_view %[[X]] : partition_view<tile=(16x8), padding_value = neg_inf, tensor_view<?x8xf32, strides=[?,1]>>
// CHECK: tensor_view<4x8xf32, strides=[8,1]>, dim_map=[1,0]>
// CHECK: load_view_tko weak
// CHECK: addf
// CHECK: store_view_tko weak
// CHECK-NOT: func.func
// BACK: cuda_tile.entry @double
// BACK: store_view_tko weak {{.*}} token = %
tile.kernel @double(%x: memref<?x8xf32, strided<[?, 1]>>, %y: memref<4x8xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x8xf32, strided<[?, 1]>> to !tile.view<16x8xf32, pad = neg_inf>
  %Y = tile.view %y : memref<4x8xf32> to !tile.view<8x16xf32, order = [1, 0]>
  %v = tile.load %X[%i, %c0] : !tile.view<16x8xf32, pad = neg_inf> -> tensor<16x8xf32>
  %s = arith.addf %v, %v : tensor<16x8xf32>
  %t = tile.transpose %s [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
  tile.store %t, %Y[%c0, %i] : tensor<8x16xf32>, !tile.view<8x16xf32, order = [1, 0]>
  tile.return
}

// Tiles that overlap are a strided_view, which version 13.3 brings; pointers before.
// CHECK-LABEL: cuda_tile.entry @overlap
// CHECK: strided_view<tile=(8), traversal_strides=[4], padding_value = zero
// OLD-LABEL: cuda_tile.entry @overlap
// OLD-NOT: strided_view
// OLD: load_ptr_tko weak %{{.*}} mask = %{{.*}} padding = %
tile.kernel @overlap(%x: memref<?xf32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<8xf32, steps = [4]>
  %Y = tile.view %y : memref<?xf32> to !tile.view<8xf32>
  %v = tile.load %X[%i] : !tile.view<8xf32, steps = [4]> -> tensor<8xf32>
  tile.store %v, %Y[%i] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// A while is a loop that a condition leaves. Combining stores are atomic. What is assumed stays.
// CHECK-LABEL: cuda_tile.entry @search
// CHECK: assume div_by<16>
// CHECK: assume bounded<1, 64>
// CHECK: "cuda_tile.loop"
// CHECK: cmpi less_than
// CHECK: "cuda_tile.if"
// CHECK-NEXT: yield
// CHECK: break
// CHECK: continue
// CHECK: atomic_rmw_tko relaxed device %{{.*}}, addf
tile.kernel @search(%x: memref<64xf32>, %m: index, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = tile.assume %x align 16 : memref<64xf32>
  %n = tile.assume %m range [1, 64] : index
  %last = scf.while (%k = %c0) : (index) -> index {
    %more = arith.cmpi slt, %k, %n : index
    scf.condition(%more) %k : index
  } do {
  ^bb0(%k: index):
    %next = arith.addi %k, %c1 : index
    scf.yield %next : index
  }
  %v = memref.load %p[%last] : memref<64xf32>
  %b = tile.broadcast %v : f32 -> tensor<8xf32>
  %Y = tile.view %y : memref<8xf32> to !tile.view<8xf32>
  tile.store %b, %Y[%c0] combine(add) : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

func.func @host(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @overlap grid(%c1) ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}
