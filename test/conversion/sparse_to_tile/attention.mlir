// RUN: %tile_opt %s --convert-sparse-to-tile=chip=x86-64-v4 --canonicalize --cse | FileCheck %s
// RUN: %tile_opt %s --convert-sparse-to-tile=chip=sm_80 --canonicalize --cse | FileCheck %s --check-prefix=GPU
// Scores, their maps, softmax and the weighted sum are one launch, in which the maps' outer constants are copied. It stays
// apart where somebody else reads the weights, where a map takes an argument along, where a score has many terms, on GPUs.
!graph = tensor<?x?xf32, #sparse.csr>

// CHECK-LABEL: func.func @one
// CHECK: %[[R:.*]] = tile.launch @attend_lines
// CHECK-NOT: tile.launch
// CHECK: return %[[R]]
// GPU-LABEL: func.func @one
// GPU: tile.launch @sddmm_over
// GPU: tile.launch @softmax_lines
// GPU: tile.launch @spmm_csr
func.func @one(%p: !graph, %h: tensor<?x64xf32>, %s: tensor<1x?xf32>, %d: tensor<1x?xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %slope = arith.constant 0.2 : f32
  %e = sparse.sddmm %s transpose, %d, %p over max_plus : tensor<1x?xf32>, tensor<1x?xf32>, !graph
  %n = sparse.map %e : !graph {
  ^bb0(%v: f32, %i: index, %j: index):
    %o = arith.mulf %v, %slope : f32
    sparse.yield %o : f32
  }
  %l = sparse.map %n : !graph {
  ^bb0(%v: f32, %i: index, %j: index):
    %same = arith.cmpi eq, %i, %j : index
    %m = arith.negf %v : f32
    %o = arith.select %same, %m, %v : f32
    sparse.yield %o : f32
  }
  %w = sparse.softmax %l along 1 : !graph
  %r = sparse.spmm %w, %h, %z : !graph, tensor<?x64xf32>, tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @weights_are_read
// CHECK: tile.launch @softmax_lines
// CHECK: tile.launch @spmm_csr
func.func @weights_are_read(%p: !graph, %h: tensor<?x64xf32>, %s: tensor<?x1xf32>, %z: tensor<?x64xf32>) -> (!graph, tensor<?x64xf32>) {
  %e = sparse.sddmm %s, %s transpose, %p : tensor<?x1xf32>, tensor<?x1xf32>, !graph
  %w = sparse.softmax %e along 1 : !graph
  %r = sparse.spmm %w, %h, %z : !graph, tensor<?x64xf32>, tensor<?x64xf32>
  return %w, %r : !graph, tensor<?x64xf32>
}

// CHECK-LABEL: func.func @argument
// CHECK: tile.launch @softmax_lines
// CHECK: tile.launch @spmm_csr
func.func @argument(%p: !graph, %h: tensor<?x64xf32>, %s: tensor<?x1xf32>, %z: tensor<?x64xf32>, %a: f32) -> tensor<?x64xf32> {
  %e = sparse.sddmm %s, %s transpose, %p : tensor<?x1xf32>, tensor<?x1xf32>, !graph
  %n = sparse.map %e : !graph {
  ^bb0(%v: f32, %i: index, %j: index):
    %o = arith.mulf %v, %a : f32
    sparse.yield %o : f32
  }
  %w = sparse.softmax %n along 1 : !graph
  %r = sparse.spmm %w, %h, %z : !graph, tensor<?x64xf32>, tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @many_terms
// CHECK: tile.launch @softmax_lines
// CHECK: tile.launch @spmm_csr
func.func @many_terms(%p: !graph, %h: tensor<?x64xf32>, %s: tensor<?x5xf32>, %z: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %e = sparse.sddmm %s, %s transpose, %p : tensor<?x5xf32>, tensor<?x5xf32>, !graph
  %w = sparse.softmax %e along 1 : !graph
  %r = sparse.spmm %w, %h, %z : !graph, tensor<?x64xf32>, tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
