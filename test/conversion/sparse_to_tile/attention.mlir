// RUN: %tile_opt %s --convert-sparse-to-tile=chip=x86-64-v4 --canonicalize --cse | FileCheck %s
// RUN: %tile_opt %s --convert-sparse-to-tile=chip=sm_80 --canonicalize --cse | FileCheck %s --check-prefix=GPU
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-check-sizes),convert-sparse-to-tile{chip=x86-64-v4},canonicalize,cse)' | FileCheck %s --check-prefix=SIZES
// Scores, their maps, softmax and the weighted sum are one launch, in which the maps' outer constants are copied. It stays
// apart where somebody else reads the weights, where a map takes an argument along, where a score has many terms. On GPUs
// other kernels do the same.
!graph = tensor<?x?xf32, #sparse.csr>

// CHECK-LABEL: func.func @one
// CHECK: %[[R:.*]] = tile.launch @attend_lines
// CHECK-NOT: tile.launch
// CHECK: return %[[R]]
// GPU-LABEL: func.func @one
// GPU: %[[R:.*]] = tile.launch @attend_entries
// GPU-NOT: tile.launch
// GPU: return %[[R]]
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

// A loop over heads that stand side by side is one launch; where the result starts from zeros, these need not be read.
// CHECK-LABEL: func.func @heads
// CHECK-NOT: scf.for
// CHECK: %[[ROWS:.*]] = tile.launch @attend_heads grid(%arg3, %c1) ins(%arg0, %arg1, %arg6, %arg6, %arg5
// CHECK: return %[[ROWS]]
// Comparisons of sizes go before the launch.
// SIZES-LABEL: func.func @heads
// SIZES: cf.assert {{.*}}dimension 0 of operand 0 of tensor.insert_slice
// SIZES-NOT: scf.for
// SIZES: tile.launch @attend_heads
// GPU-LABEL: func.func @heads
// GPU-NOT: scf.for
// GPU: tile.launch @attend_head_entries grid(%arg3, %c1)
func.func @heads(%p: !graph, %h: tensor<?x8x8xf32>, %s: tensor<?x8xf32>) -> tensor<?x8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %h, %c0 : tensor<?x8x8xf32>
  %e = tensor.empty(%n) : tensor<?x8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8x8xf32>) -> tensor<?x8x8xf32>
  %one = tensor.empty(%n) : tensor<?x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%one : tensor<?x8xf32>) -> tensor<?x8xf32>
  %r = scf.for %k = %c0 to %c8 step %c1 iter_args(%out = %z) -> (tensor<?x8x8xf32>) {
    %v = tensor.extract_slice %h[0, %k, 0] [%n, 1, 8] [1, 1, 1] : tensor<?x8x8xf32> to tensor<?x8xf32>
    %f = tensor.extract_slice %s[0, %k] [%n, 1] [1, 1] : tensor<?x8xf32> to tensor<?x1xf32>
    %scores = sparse.sddmm %f, %f transpose, %p over max_plus : tensor<?x1xf32>, tensor<?x1xf32>, !graph
    %w = sparse.softmax %scores along 1 : !graph
    %head = sparse.spmm %w, %v, %init : !graph, tensor<?x8xf32>, tensor<?x8xf32>
    %next = tensor.insert_slice %head into %out[0, %k, 0] [%n, 1, 8] [1, 1, 1] : tensor<?x8xf32> into tensor<?x8x8xf32>
    scf.yield %next : tensor<?x8x8xf32>
  }
  return %r : tensor<?x8x8xf32>
}

// Heads one behind the other, half of the heads, and a head that reads what the one before wrote: a launch for each.
// CHECK-LABEL: func.func @other_loops
// CHECK: scf.for
// CHECK: tile.launch @attend_lines
// CHECK: scf.for
// CHECK: tile.launch @attend_lines
// CHECK: scf.for
// CHECK: tile.launch @attend_lines
func.func @other_loops(%p: !graph, %h: tensor<8x?x8xf32>, %s: tensor<?x8xf32>, %z: tensor<8x?x8xf32>, %y: tensor<?x8x8xf32>, %n: index)
    -> (tensor<8x?x8xf32>, tensor<?x8x8xf32>, tensor<?x8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %k = %c0 to %c8 step %c1 iter_args(%out = %z) -> (tensor<8x?x8xf32>) {
    %v = tensor.extract_slice %h[%k, 0, 0] [1, %n, 8] [1, 1, 1] : tensor<8x?x8xf32> to tensor<?x8xf32>
    %f = tensor.extract_slice %s[0, %k] [%n, 1] [1, 1] : tensor<?x8xf32> to tensor<?x1xf32>
    %scores = sparse.sddmm %f, %f transpose, %p over max_plus : tensor<?x1xf32>, tensor<?x1xf32>, !graph
    %w = sparse.softmax %scores along 1 : !graph
    %init = tensor.extract_slice %out[%k, 0, 0] [1, %n, 8] [1, 1, 1] : tensor<8x?x8xf32> to tensor<?x8xf32>
    %head = sparse.spmm %w, %v, %init : !graph, tensor<?x8xf32>, tensor<?x8xf32>
    %next = tensor.insert_slice %head into %out[%k, 0, 0] [1, %n, 8] [1, 1, 1] : tensor<?x8xf32> into tensor<8x?x8xf32>
    scf.yield %next : tensor<8x?x8xf32>
  }
  %half = scf.for %k = %c0 to %c4 step %c1 iter_args(%out = %y) -> (tensor<?x8x8xf32>) {
    %v = tensor.extract_slice %y[0, %k, 0] [%n, 1, 8] [1, 1, 1] : tensor<?x8x8xf32> to tensor<?x8xf32>
    %f = tensor.extract_slice %s[0, %k] [%n, 1] [1, 1] : tensor<?x8xf32> to tensor<?x1xf32>
    %scores = sparse.sddmm %f, %f transpose, %p over max_plus : tensor<?x1xf32>, tensor<?x1xf32>, !graph
    %w = sparse.softmax %scores along 1 : !graph
    %init = tensor.extract_slice %out[0, %k, 0] [%n, 1, 8] [1, 1, 1] : tensor<?x8x8xf32> to tensor<?x8xf32>
    %head = sparse.spmm %w, %v, %init : !graph, tensor<?x8xf32>, tensor<?x8xf32>
    %next = tensor.insert_slice %head into %out[0, %k, 0] [%n, 1, 8] [1, 1, 1] : tensor<?x8xf32> into tensor<?x8x8xf32>
    scf.yield %next : tensor<?x8x8xf32>
  }
  %chain = scf.for %k = %c0 to %c8 step %c1 iter_args(%out = %y) -> (tensor<?x8x8xf32>) {
    %v = tensor.extract_slice %out[0, %c4, 0] [%n, 1, 8] [1, 1, 1] : tensor<?x8x8xf32> to tensor<?x8xf32>
    %f = tensor.extract_slice %s[0, %k] [%n, 1] [1, 1] : tensor<?x8xf32> to tensor<?x1xf32>
    %scores = sparse.sddmm %f, %f transpose, %p over max_plus : tensor<?x1xf32>, tensor<?x1xf32>, !graph
    %w = sparse.softmax %scores along 1 : !graph
    %init = tensor.extract_slice %out[0, %k, 0] [%n, 1, 8] [1, 1, 1] : tensor<?x8x8xf32> to tensor<?x8xf32>
    %head = sparse.spmm %w, %v, %init : !graph, tensor<?x8xf32>, tensor<?x8xf32>
    %next = tensor.insert_slice %head into %out[0, %k, 0] [%n, 1, 8] [1, 1, 1] : tensor<?x8xf32> into tensor<?x8x8xf32>
    scf.yield %next : tensor<?x8x8xf32>
  }
  return %r, %half, %chain : tensor<8x?x8xf32>, tensor<?x8x8xf32>, tensor<?x8x8xf32>
}
