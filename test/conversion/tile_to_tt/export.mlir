// RUN: tile-opt %s --convert-tile-to-tt | FileCheck %s
// RUN: tile-translate %s --tile-to-ttir | FileCheck %s --check-prefix=TEXT

// A view's tile is read through pointers, with a mask and the view's padding. An open size is a parameter.
// CHECK-LABEL: tt.func public @double(
// CHECK-SAME: %[[P:.*]]: !tt.ptr<f32>, %[[N:.*]]: i64, %[[Q:.*]]: !tt.ptr<f32>, %[[M:.*]]: i64)
// CHECK: %[[I:.*]] = tt.get_program_id x : i32
// CHECK: tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<16xi64>
// CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x!tt.ptr<f32>>
// CHECK: arith.addf
// CHECK: tt.store
// CHECK: tt.return
// TEXT-NOT: func.func
// TEXT: tt.func public @double
tile.kernel @double(%x: memref<?xf32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<16xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<16xf32>
  %v = tile.load %X[%i] : !tile.view<16xf32> -> tensor<16xf32>
  %s = arith.addf %v, %v : tensor<16xf32>
  tile.store %s, %Y[%i] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}

// Combining stores are atomic.
// CHECK-LABEL: tt.func public @sums
// CHECK: tt.atomic_rmw fadd, relaxed, gpu
tile.kernel @sums(%x: f32, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %Y = tile.view %y : memref<8xf32> to !tile.view<8xf32>
  %b = tile.broadcast %x : f32 -> tensor<8xf32>
  tile.store %b, %Y[%c0] combine(add) : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

func.func @host(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @double grid(%c1) ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}
