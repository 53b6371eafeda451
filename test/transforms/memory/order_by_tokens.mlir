// RUN: tile-opt %s --tile-order-by-tokens | FileCheck %s

// A write waits for the reads and the write before it; reads do not wait for each other.
// CHECK-LABEL: cuda_tile.entry @line
// CHECK: %[[A:.*]]:2 = cuda_tile.load_ptr_tko weak %arg0 :
// CHECK: %[[B:.*]]:2 = cuda_tile.load_ptr_tko weak %arg1 :
// CHECK: %[[J:.*]] = cuda_tile.join_tokens %[[A]]#1, %[[B]]#1
// CHECK: %[[W:.*]] = cuda_tile.store_ptr_tko weak %arg1, %{{.*}} token = %[[J]]
// CHECK: cuda_tile.load_ptr_tko weak %arg0 token = %[[W]]
cuda_tile.entry @line(%x: tensor<!cuda_tile.ptr<f32>>, %y: tensor<!cuda_tile.ptr<f32>>) {
  %a, %t0 = cuda_tile.load_ptr_tko weak %x : (tile<ptr<f32>>) -> (tile<f32>, token)
  %b, %t1 = cuda_tile.load_ptr_tko weak %y : (tile<ptr<f32>>) -> (tile<f32>, token)
  %t2 = cuda_tile.store_ptr_tko weak %y, %a : (tile<ptr<f32>>, tile<f32>) -> token
  %c, %t3 = cuda_tile.load_ptr_tko weak %x : (tile<ptr<f32>>) -> (tile<f32>, token)
  cuda_tile.return
}

// Memory that nobody else reaches, and that is only read, has no order. The marks are gone.
// CHECK-LABEL: cuda_tile.entry @apart
// CHECK-NOT: noalias
// CHECK-NOT: token =
// CHECK: return
cuda_tile.entry @apart(%x: tensor<!cuda_tile.ptr<f32>> {llvm.noalias}, %y: tensor<!cuda_tile.ptr<f32>> {llvm.noalias}) {
  %a, %t0 = cuda_tile.load_ptr_tko weak %x : (tile<ptr<f32>>) -> (tile<f32>, token)
  %t1 = cuda_tile.store_ptr_tko weak %y, %a : (tile<ptr<f32>>, tile<f32>) -> token
  %b, %t2 = cuda_tile.load_ptr_tko weak %x : (tile<ptr<f32>>) -> (tile<f32>, token)
  cuda_tile.return
}

// A pointer of unknown origin may point to any memory, marked or not.
// CHECK-LABEL: cuda_tile.entry @table
// CHECK: %[[A:.*]]:2 = cuda_tile.load_ptr_tko weak %arg0 :
// CHECK: store_ptr_tko weak %{{.*}}, %{{.*}} token = %[[A]]#1
cuda_tile.entry @table(%x: tensor<!cuda_tile.ptr<f32>> {llvm.noalias}, %p: tensor<i64>) {
  %a, %t0 = cuda_tile.load_ptr_tko weak %x : (tile<ptr<f32>>) -> (tile<f32>, token)
  %q = cuda_tile.int_to_ptr %p : tile<i64> -> tile<ptr<f32>>
  %t1 = cuda_tile.store_ptr_tko weak %q, %a : (tile<ptr<f32>>, tile<f32>) -> token
  cuda_tile.return
}

// Rounds of a loop that only reads do not wait for each other; what writes behind the loop waits for all of them.
// CHECK-LABEL: cuda_tile.entry @rounds
// CHECK: %[[T:.*]] = cuda_tile.make_token
// CHECK: %[[L:.*]] = "cuda_tile.for"(%{{.*}}, %[[T]])
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[C:.*]]: !cuda_tile.token)
// CHECK: %[[V:.*]]:2 = cuda_tile.load_ptr_tko weak %arg0 :
// CHECK: %[[J:.*]] = cuda_tile.join_tokens %[[C]], %[[V]]#1
// CHECK: continue %[[J]] : token
// CHECK: store_ptr_tko weak %arg0, %{{.*}} token = %[[L]]
cuda_tile.entry @rounds(%x: tensor<!cuda_tile.ptr<f32>>, %n: tensor<i32>, %v: tensor<f32>) {
  "cuda_tile.for"(%n, %n, %n) ({
  ^bb0(%i: tensor<i32>):
    %a, %t0 = cuda_tile.load_ptr_tko weak %x : (tile<ptr<f32>>) -> (tile<f32>, token)
    cuda_tile.continue
  }) : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  %t1 = cuda_tile.store_ptr_tko weak %x, %v : (tile<ptr<f32>>, tile<f32>) -> token
  cuda_tile.return
}

// A condition in a loop that may leave it: the break passes on what the loop carries, and so does the other branch.
// CHECK-LABEL: cuda_tile.entry @leaves
// CHECK: %[[T0:.*]] = cuda_tile.make_token
// CHECK: %[[T1:.*]] = cuda_tile.make_token
// CHECK: %[[L:.*]]:2 = "cuda_tile.loop"(%[[T0]], %[[T1]])
// CHECK: ^bb0(%[[ALL:.*]]: !cuda_tile.token, %[[W:.*]]: !cuda_tile.token)
// CHECK: %[[IF:.*]]:2 = "cuda_tile.if"
// CHECK: %[[S:.*]] = cuda_tile.store_ptr_tko weak %arg0, %{{.*}} token = %[[ALL]]
// CHECK: yield %[[S]], %[[S]]
// CHECK: break %[[ALL]], %[[W]]
// CHECK: continue %[[IF]]#0, %[[IF]]#1
// CHECK: load_ptr_tko weak %arg0 token = %[[L]]#1
cuda_tile.entry @leaves(%x: tensor<!cuda_tile.ptr<f32>>, %c: tensor<i1>, %v: tensor<f32>) {
  "cuda_tile.loop"() ({
    "cuda_tile.if"(%c) ({
      %t0 = cuda_tile.store_ptr_tko weak %x, %v : (tile<ptr<f32>>, tile<f32>) -> token
      cuda_tile.yield
    }, {
      cuda_tile.break
    }) : (tensor<i1>) -> ()
    cuda_tile.continue
  }) : () -> ()
  %a, %t1 = cuda_tile.load_ptr_tko weak %x : (tile<ptr<f32>>) -> (tile<f32>, token)
  cuda_tile.return
}

// What acquires waits for all before it, and all behind it wait for it, whatever the memory.
// CHECK-LABEL: cuda_tile.entry @flag
// CHECK: %[[A:.*]]:2 = cuda_tile.load_ptr_tko weak %arg0 :
// CHECK: %[[F:.*]]:2 = cuda_tile.load_ptr_tko acquire device %arg1 token = %[[A]]#1
// CHECK: load_ptr_tko weak %arg0 token = %[[F]]#1
cuda_tile.entry @flag(%x: tensor<!cuda_tile.ptr<f32>> {llvm.noalias}, %f: tensor<!cuda_tile.ptr<i32>> {llvm.noalias}) {
  %a, %t0 = cuda_tile.load_ptr_tko weak %x : (tile<ptr<f32>>) -> (tile<f32>, token)
  %b, %t1 = cuda_tile.load_ptr_tko acquire device %f : (tile<ptr<i32>>) -> (tile<i32>, token)
  %c, %t2 = cuda_tile.load_ptr_tko weak %x : (tile<ptr<f32>>) -> (tile<f32>, token)
  cuda_tile.return
}

// An entry that has an order keeps it.
// CHECK-LABEL: cuda_tile.entry @ordered
// CHECK: %[[A:.*]]:2 = cuda_tile.load_ptr_tko weak %arg0 :
// CHECK: %[[W:.*]] = cuda_tile.store_ptr_tko weak %arg0, %[[A]]#0 :
// CHECK: load_ptr_tko weak %arg0 token = %[[W]]
cuda_tile.entry @ordered(%x: tensor<!cuda_tile.ptr<f32>>) {
  %a, %t0 = cuda_tile.load_ptr_tko weak %x : (tile<ptr<f32>>) -> (tile<f32>, token)
  %t1 = cuda_tile.store_ptr_tko weak %x, %a : (tile<ptr<f32>>, tile<f32>) -> token
  %b, %t2 = cuda_tile.load_ptr_tko weak %x token = %t1 : (tile<ptr<f32>>, token) -> (tile<f32>, token)
  cuda_tile.return
}
