// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-add-into-entries)' -split-input-file -verify-diagnostics | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-add-into-entries,func.func(eliminate-empty-tensors),tile-bufferize-host,func.func(canonicalize,cse,canonicalize))' -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=BUFFERS
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-add-into-entries{most-ops=0})' -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=CALLS

// A result that starts from a tensor.empty is computed in the caller's buffer, whose size is checked before.
// CHECK-LABEL: func.func @add(
// CHECK-SAME: -> tensor<?xf32>
// CHECK-LABEL: func.func @add_into(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>, %[[OUT:.*]]: memref<?xf32> {llvm.noalias}) {
// CHECK: %[[N:.*]] = tensor.dim %[[X]]
// CHECK: %[[GIVEN:.*]] = memref.dim %[[OUT]]
// CHECK: call @tessera_check_size(%{{.*}}, %{{.*}}, %[[N]], %[[GIVEN]])
// CHECK: tensor.empty(%[[N]])
// CHECK: %[[SUM:.*]] = linalg.add
// CHECK: bufferization.materialize_in_destination %[[SUM]] in restrict writable %[[OUT]]
// CHECK-NEXT: return
// BUFFERS-LABEL: func.func @add_into(
// BUFFERS-SAME: %[[OUT:[a-z0-9]*]]: memref<?xf32> {llvm.noalias}) attributes
// BUFFERS-NOT: memref.alloc
// BUFFERS: linalg.add {{.*}} outs(%[[OUT]] : memref<?xf32>)
// BUFFERS-NOT: memref.copy
// BUFFERS: return
func.func @add(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Scalars come in buffers of rank 0; what has no tensor.empty behind it is copied, checked before if its size is dynamic.
// CHECK-LABEL: func.func @others_into(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[M:.*]]: memref<?xi8>, %[[N:.*]]: index, %[[OUT0:.*]]: memref<index> {llvm.noalias}, %[[OUT1:.*]]: memref<?xf32> {llvm.noalias}, %[[OUT2:.*]]: memref<2xf32> {llvm.noalias}, %[[OUT3:.*]]: memref<?xi8> {llvm.noalias})
// CHECK: memref.store %[[N]], %[[OUT0]][]
// CHECK: call @tessera_check_size
// CHECK: %[[FROM:.*]] = bufferization.to_buffer %[[X]] read_only
// CHECK: memref.copy %[[FROM]], %[[OUT1]]
// CHECK-NOT: tessera_check_size
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[OUT2]]
// CHECK: call @tessera_check_size
// CHECK: memref.copy %[[M]], %[[OUT3]]
func.func @others(%x: tensor<?xf32> {bufferization.writable = false}, %m: memref<?xi8>, %n: index)
    -> (index, tensor<?xf32>, tensor<2xf32>, memref<?xi8>) {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %n, %x, %c, %m : index, tensor<?xf32>, tensor<2xf32>, memref<?xi8>
}

// -----

// Nothing to do: no results, nobody outside may call it, no body, a result that no buffer holds.
// CHECK-NOT: _into
func.func @no_results(%m: memref<4xf32>) {
  return
}
func.func private @hidden(%x: f32) -> f32 {
  return %x : f32
}
func.func private @declared(f32) -> f32
func.func @vector(%x: vector<4xf32>) -> vector<4xf32> {
  return %x : vector<4xf32>
}

// -----

// expected-error @below {{'func.func' op cannot have a form 'f_into' that writes the caller's buffers: a symbol has that name}}
func.func @f(%x: f32) -> f32 {
  return %x : f32
}
// expected-note @below {{this one}}
func.func @f_into() {
  return
}

// -----

// A function of more than 500 ops would be compiled twice: the second form calls it and copies what it gives. Here, with
// most-ops=0, each function does.
// CALLS-LABEL: func.func @twice_into(
// CALLS-SAME: %[[X:.*]]: tensor<?xf32>, %[[N:.*]]: index, %[[OUT0:.*]]: memref<?xf32> {llvm.noalias}, %[[OUT1:.*]]: memref<index> {llvm.noalias}, %[[OUT2:.*]]: memref<2xf32> {llvm.noalias})
// CALLS-NEXT: %[[R:.*]]:3 = call @twice(%[[X]], %[[N]])
// CALLS: call @tessera_check_size
// CALLS-NEXT: %[[FROM:.*]] = bufferization.to_buffer %[[R]]#0 read_only
// CALLS-NEXT: memref.copy %[[FROM]], %[[OUT0]]
// CALLS-NEXT: memref.store %[[R]]#1, %[[OUT1]][]
// CALLS-NEXT: bufferization.materialize_in_destination %[[R]]#2 in restrict writable %[[OUT2]]
// CALLS-NEXT: return
// CHECK-LABEL: func.func @twice_into(
// CHECK-NOT: call @twice(
func.func @twice(%x: tensor<?xf32>, %n: index) -> (tensor<?xf32>, index, tensor<2xf32>) {
  %c0 = arith.constant 0 : index
  %size = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%size) : tensor<?xf32>
  %r = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %r, %n, %c : tensor<?xf32>, index, tensor<2xf32>
}
