// RUN: %tile_opt %s --split-input-file --tile-bufferize-host | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --pass-pipeline='builtin.module(tile-bufferize-host)' | FileCheck %s

// A launch takes the buffers of its tensors; the kernel, tensors and all, is left alone; the function becomes an entry.
// CHECK-LABEL: func.func @launch(
// CHECK-SAME: %[[x:.*]]: memref<?xf32>, %[[n:.*]]: index) -> memref<?xf32>
// CHECK-SAME: llvm.emit_c_interface
// CHECK: %[[r:.*]] = memref.alloc(%[[n]])
// CHECK-NEXT: tile.launch @k grid({{.*}}) ins(%[[x]] : memref<?xf32>) outs(%[[r]] : memref<?xf32>)
// CHECK-NEXT: return %[[r]]
// CHECK: tile.kernel private @k
// CHECK: tile.load {{.*}} -> tensor<8xf32>
func.func @launch(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = tile.launch @k grid(%c1) ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
tile.kernel private @k(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?xf32> to !tile.view<8xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<8xf32>
  %v = tile.load %X[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  tile.store %v, %Y[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// -----

// The caller's tensor is not written: the fill goes to a new buffer. A writable argument is.
// CHECK-LABEL: func.func @not_written(%{{.*}}: memref<4xf32>)
// CHECK: %[[new:.*]] = memref.alloc
// CHECK: linalg.fill {{.*}} outs(%[[new]] :
// CHECK-LABEL: func.func @written(
// CHECK-SAME: %[[x:[a-z0-9]*]]: memref<4xf32>
// CHECK-NOT: memref.alloc
// CHECK: linalg.fill {{.*}} outs(%[[x]] :
func.func @not_written(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = arith.constant 0.0 : f32
  %r = linalg.fill ins(%z : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @written(%x: tensor<4xf32> {bufferization.writable = true}) -> tensor<4xf32> {
  %z = arith.constant 0.0 : f32
  %r = linalg.fill ins(%z : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Nothing to do: memrefs stay as they are. A private function is no entry.
// CHECK-LABEL: func.func private @memrefs(%{{.*}}: memref<4xf32>) {
// CHECK-NEXT: return
func.func private @memrefs(%m: memref<4xf32>) {
  return
}

// -----

// Users that share an empty tensor get a buffer each, where they are: nothing is copied, and the loop yields a new one.
// CHECK-LABEL: func.func @shared_empty(
// CHECK-NOT: memref.copy
// CHECK: scf.for
// CHECK-COUNT-2: memref.alloc()
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @shared_empty(%n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %x = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %y) -> tensor<4xf32> {
    %t = linalg.exp ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %u = linalg.add ins(%s, %t : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  }
  return %r, %x : tensor<4xf32>, tensor<4xf32>
}
