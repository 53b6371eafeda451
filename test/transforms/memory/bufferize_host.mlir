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

// A private kernel takes a part as it is: its parameter's type becomes the part's. The result is written where it is
// inserted: a part of an empty tensor and what inserts it stay together.
// CHECK-LABEL: func.func @part(
// CHECK-SAME: %[[x:.*]]: memref<4x8xf32>
// CHECK: %[[in:.*]] = memref.subview %[[x]][0, 4] [4, 4] [1, 1]
// CHECK: %[[r:.*]] = memref.alloc
// CHECK: %[[out:.*]] = memref.subview %[[r]][0, 0] [4, 4] [1, 1]
// CHECK-NOT: memref.alloc
// CHECK: tile.launch @only grid({{.*}}) ins(%[[in]] : memref<4x4xf32, strided<[8, 1], offset: 4>>) outs(%[[out]] : memref<4x4xf32, strided<[8, 1]>>)
// CHECK-NOT: memref.alloc
// CHECK: return %[[r]]
// CHECK: tile.kernel private @only(%{{.*}}: memref<4x4xf32, strided<[8, 1], offset: 4>>, %{{.*}}: memref<4x4xf32, strided<[8, 1]>>)
func.func @part(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c1 = arith.constant 1 : index
  %in = tensor.extract_slice %x[0, 4] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %out = tensor.extract_slice %e[0, 0] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  %r = tile.launch @only grid(%c1) ins(%in : tensor<4x4xf32>) outs(%out : tensor<4x4xf32>) {tile.overwrites = [0]} -> tensor<4x4xf32>
  %y = tensor.insert_slice %r into %e[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
tile.kernel private @only(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<4x4xf32> to !tile.view<4x4xf32>
  %Y = tile.view %y : memref<4x4xf32> to !tile.view<4x4xf32>
  %v = tile.load %X[%c0, %c0] : !tile.view<4x4xf32> -> tensor<4x4xf32>
  tile.store %v, %Y[%c0, %c0] : tensor<4x4xf32>, !tile.view<4x4xf32>
  tile.return
}

// -----

// Where others launch the kernel, a copy of it takes the part; one copy for all parts of a type. The last launch that is
// left has the kernel to itself.
// CHECK-LABEL: func.func @shared(
// CHECK: tile.launch @k_of_parts_0
// CHECK: tile.launch @k_of_parts_0
// CHECK: tile.launch @k_of_parts_1
// CHECK: tile.launch @k grid
// CHECK: tile.kernel private @k(%{{.*}}: memref<4x4xf32>,
// CHECK-DAG: tile.kernel private @k_of_parts_0(%{{.*}}: memref<4x4xf32, strided<[8, 1]>>,
// CHECK-DAG: tile.kernel private @k_of_parts_1(%{{.*}}: memref<4x4xf32, strided<[8, 1], offset: 4>>,
func.func @shared(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>, %z: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4x4xf32>
  %a = tensor.extract_slice %x[0, 0] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  %b = tensor.extract_slice %w[0, 0] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  %c = tensor.extract_slice %x[0, 4] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  %0 = tile.launch @k grid(%c1) ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tile.launch @k grid(%c1) ins(%b : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tile.launch @k grid(%c1) ins(%c : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = tile.launch @k grid(%c1) ins(%z : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
tile.kernel private @k(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<4x4xf32> to !tile.view<4x4xf32>
  %Y = tile.view %y : memref<4x4xf32> to !tile.view<4x4xf32>
  %v = tile.load %X[%c0, %c0] : !tile.view<4x4xf32> -> tensor<4x4xf32>
  tile.store %v, %Y[%c0, %c0] : tensor<4x4xf32>, !tile.view<4x4xf32>
  tile.return
}

// -----

// Copied are parts with a step along the last axis, parts for a public kernel, and for one that does more than view.
// CHECK-LABEL: func.func @copied(
// CHECK-COUNT-3: memref.copy
// CHECK: tile.kernel private @stepped(%{{.*}}: memref<4xf32>,
// CHECK: tile.kernel @public(%{{.*}}: memref<4xf32>,
// CHECK: tile.kernel private @loads(%{{.*}}: memref<4xf32>,
func.func @copied(%x: tensor<2x8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %a = tensor.extract_slice %x[1, 0] [1, 4] [1, 2] : tensor<2x8xf32> to tensor<4xf32>
  %b = tensor.extract_slice %x[1, 4] [1, 4] [1, 1] : tensor<2x8xf32> to tensor<4xf32>
  %0 = tile.launch @stepped grid(%c1) ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %1 = tile.launch @public grid(%c1) ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %2 = tile.launch @loads grid(%c1) ins(%b : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
tile.kernel private @stepped(%x: memref<4xf32>, %y: memref<4xf32>) {
  %X = tile.view %x : memref<4xf32> to !tile.view<4xf32>
  tile.return
}
tile.kernel @public(%x: memref<4xf32>, %y: memref<4xf32>) {
  %X = tile.view %x : memref<4xf32> to !tile.view<4xf32>
  tile.return
}
tile.kernel private @loads(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<4xf32>
  memref.store %v, %y[%c0] : memref<4xf32>
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
