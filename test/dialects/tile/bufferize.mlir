// Launches under upstream's one-shot bufferization: in place where possible, copies where a value lives on, and where
// a parameter's layout asks for one.
// RUN: %tile_opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s
// RUN: %mlir_opt_plugin %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s

tile.kernel private @scale(memref<?xf32>, f32, memref<?xf32>)
tile.kernel private @strided(memref<?xf32, strided<[?], offset: ?>>, memref<?xf32>)

// CHECK-LABEL: func.func @fresh
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<?xf32>, %[[S:.*]]: f32, %[[N:.*]]: index) -> memref<?xf32>
func.func @fresh(%x: tensor<?xf32>, %s: f32, %n: index) -> tensor<?xf32> {
  // CHECK: %[[Y:.*]] = memref.alloc
  // CHECK-NOT: memref.copy
  // CHECK: tile.launch @scale grid(%[[N]]) ins(%[[X]], %[[S]] : memref<?xf32>, f32) outs(%[[Y]] : memref<?xf32>)
  // CHECK-NOT: memref.copy
  // CHECK: tile.launch @scale grid(%[[N]]) cluster [2] ins(%[[X]], %[[S]] : memref<?xf32>, f32) outs(%[[Y]] : memref<?xf32>) meets [shared, register] {mine = 1 : i32}
  // CHECK-NEXT: return %[[Y]]
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = tile.launch @scale grid(%n) ins(%x, %s : tensor<?xf32>, f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %z = tile.launch @scale grid(%n) cluster [2] ins(%x, %s : tensor<?xf32>, f32) outs(%y : tensor<?xf32>) meets [shared, register] {mine = 1 : i32} -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// The first result is still read after the second launch writes its place: a copy, unless all of it is overwritten.
// CHECK-LABEL: func.func @lives_on
// CHECK: %[[Y:.*]] = memref.alloc
// CHECK: tile.launch {{.*}} outs(%[[Y]] : memref<?xf32>)
// CHECK: %[[Z:.*]] = memref.alloc
// CHECK: memref.copy %[[Y]], %[[Z]]
// CHECK: tile.launch {{.*}} outs(%[[Z]] : memref<?xf32>)
// CHECK: return %[[Y]], %[[Z]]
func.func @lives_on(%x: tensor<?xf32>, %s: f32, %n: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = tile.launch @scale grid(%n) ins(%x, %s : tensor<?xf32>, f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %z = tile.launch @scale grid(%n) ins(%x, %s : tensor<?xf32>, f32) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %y, %z : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @overwritten
// CHECK-NOT: memref.copy
// CHECK: return
func.func @overwritten(%x: tensor<?xf32>, %s: f32, %n: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = tile.launch @scale grid(%n) ins(%x, %s : tensor<?xf32>, f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %z = tile.launch @scale grid(%n) ins(%x, %s : tensor<?xf32>, f32) outs(%y : tensor<?xf32>) {tile.overwrites = [0]} -> tensor<?xf32>
  return %y, %z : tensor<?xf32>, tensor<?xf32>
}

// One tensor in and out: the grid must not see its own results.
// CHECK-LABEL: func.func @in_and_out
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<?xf32>
// CHECK: %[[Y:.*]] = memref.alloc
// CHECK: memref.copy %[[X]], %[[Y]]
// CHECK: tile.launch {{.*}} ins(%[[X]], {{.*}}) outs(%[[Y]]
func.func @in_and_out(%x: tensor<?xf32> {bufferization.writable = true}, %s: f32, %n: index) -> tensor<?xf32> {
  %y = tile.launch @scale grid(%n) ins(%x, %s : tensor<?xf32>, f32) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// A part of a tensor: a contiguous parameter gets a copy of it, a strided one the part itself. What is written comes back.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<?xf32>, %[[Y:[a-z0-9]+]]: memref<?xf32>
// CHECK: %[[PART:.*]] = memref.subview %[[X]]
// CHECK: %[[OUT:.*]] = memref.subview %[[Y]]
// CHECK: %[[OWN:.*]] = memref.alloc({{.*}}) {alignment = 64 : i64}
// CHECK-NEXT: memref.copy %[[PART]], %[[OWN]]
// CHECK: %[[RESULT:.*]] = memref.alloc
// CHECK-NEXT: memref.copy %[[OUT]], %[[RESULT]]
// CHECK-NEXT: tile.launch @scale {{.*}} ins(%[[OWN]], {{.*}}) outs(%[[RESULT]]
// CHECK-NEXT: memref.copy %[[RESULT]], %[[OUT]]
// CHECK: tile.launch @strided {{.*}} ins(%{{.*}} : memref<?xf32, strided<[?], offset: ?>>)
func.func @parts(%x: tensor<?xf32>, %y: tensor<?xf32> {bufferization.writable = true}, %s: f32, %i: index, %n: index, %z: tensor<?xf32> {bufferization.writable = true}) -> (tensor<?xf32>, tensor<?xf32>) {
  %part = tensor.extract_slice %x[%i] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %out = tensor.extract_slice %y[%i] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  %r = tile.launch @scale grid(%n) ins(%part, %s : tensor<?xf32>, f32) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  %w = tensor.insert_slice %r into %y[%i] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  %q = tile.launch @strided grid(%n) ins(%part : tensor<?xf32>) outs(%z : tensor<?xf32>) -> tensor<?xf32>
  return %w, %q : tensor<?xf32>, tensor<?xf32>
}
