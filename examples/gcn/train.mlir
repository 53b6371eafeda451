// One step of training the network of gcn.mlir: forward, cross entropy, backward, gradient descent. The graph's part of
// the backward pass is spmm of the transpose: C = Â·B gives dB = Âᵀ·dC (docs/sparse.md).
#row = affine_map<(i, j) -> (i, j)>
#line = affine_map<(i, j) -> (i)>
#bias = affine_map<(i, j) -> (j)>
#left = affine_map<(i, j, k) -> (i, k)>
#leftT = affine_map<(i, j, k) -> (k, i)>
#right = affine_map<(i, j, k) -> (k, j)>
#rightT = affine_map<(i, j, k) -> (j, k)>
#out = affine_map<(i, j, k) -> (i, j)>

// Results: the weights after the step, and the loss before it, a mean over the nodes. `labels`: each node's class.
func.func @main(%a: tensor<?x?xf32, #sparse.csr>, %x: tensor<?x?xf32>, %labels: tensor<?xi32>, %rates: tensor<1xf32>, %w1: tensor<?x16xf32>, %b1: tensor<16xf32>, %w2: tensor<16x7xf32>, %b2: tensor<7xf32>)
    -> (tensor<?x16xf32>, tensor<16xf32>, tensor<16x7xf32>, tensor<7xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %rate = tensor.extract %rates[%c0] : tensor<1xf32>
  %nodes = tensor.dim %x, %c0 : tensor<?x?xf32>
  %features = tensor.dim %x, %c1 : tensor<?x?xf32>
  %count = arith.index_cast %nodes : index to i64
  %number = arith.sitofp %count : i64 to f32
  %share = arith.divf %one, %number : f32

  // Forward.
  %e1 = tensor.empty(%nodes) : tensor<?x16xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x16xf32>) -> tensor<?x16xf32>
  %p1 = linalg.matmul ins(%x, %w1 : tensor<?x?xf32>, tensor<?x16xf32>) outs(%z1 : tensor<?x16xf32>) -> tensor<?x16xf32>
  %s1 = sparse.spmm %a, %p1, %z1 : tensor<?x?xf32, #sparse.csr>, tensor<?x16xf32>, tensor<?x16xf32>
  %hidden = linalg.generic {indexing_maps = [#row, #bias, #row], iterator_types = ["parallel", "parallel"]}
      ins(%s1, %b1 : tensor<?x16xf32>, tensor<16xf32>) outs(%e1 : tensor<?x16xf32>) {
  ^bb0(%s: f32, %b: f32, %unused: f32):
    %t = arith.addf %s, %b : f32
    %r = arith.maximumf %t, %zero : f32
    linalg.yield %r : f32
  } -> tensor<?x16xf32>
  %e2 = tensor.empty(%nodes) : tensor<?x7xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x7xf32>) -> tensor<?x7xf32>
  %p2 = linalg.matmul ins(%hidden, %w2 : tensor<?x16xf32>, tensor<16x7xf32>) outs(%z2 : tensor<?x7xf32>) -> tensor<?x7xf32>
  %s2 = sparse.spmm %a, %p2, %z2 : tensor<?x?xf32, #sparse.csr>, tensor<?x7xf32>, tensor<?x7xf32>
  %scores = linalg.generic {indexing_maps = [#row, #bias, #row], iterator_types = ["parallel", "parallel"]}
      ins(%s2, %b2 : tensor<?x7xf32>, tensor<7xf32>) outs(%e2 : tensor<?x7xf32>) {
  ^bb0(%s: f32, %b: f32, %unused: f32):
    %t = arith.addf %s, %b : f32
    linalg.yield %t : f32
  } -> tensor<?x7xf32>

  // Cross entropy: the mean of -log of what the softmax gives the label.
  %shares = linalg.softmax dimension(1) ins(%scores : tensor<?x7xf32>) outs(%e2 : tensor<?x7xf32>) -> tensor<?x7xf32>
  %e0 = tensor.empty() : tensor<f32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %loss = linalg.generic {indexing_maps = [#row, #line, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%shares, %labels : tensor<?x7xf32>, tensor<?xi32>) outs(%z0 : tensor<f32>) {
  ^bb0(%q: f32, %label: i32, %sum: f32):
    %j = linalg.index 1 : index
    %class = arith.index_cast %label : i32 to index
    %is = arith.cmpi eq, %j, %class : index
    %log = math.log %q : f32
    %own = arith.select %is, %log, %zero : f32
    %term = arith.mulf %own, %share : f32
    %new = arith.subf %sum, %term : f32
    linalg.yield %new : f32
  } -> tensor<f32>

  // Backward, by the slopes of the loss.
  %dscores = linalg.generic {indexing_maps = [#row, #line, #row], iterator_types = ["parallel", "parallel"]}
      ins(%shares, %labels : tensor<?x7xf32>, tensor<?xi32>) outs(%e2 : tensor<?x7xf32>) {
  ^bb0(%q: f32, %label: i32, %unused: f32):
    %j = linalg.index 1 : index
    %class = arith.index_cast %label : i32 to index
    %is = arith.cmpi eq, %j, %class : index
    %own = arith.select %is, %one, %zero : f32
    %d = arith.subf %q, %own : f32
    %r = arith.mulf %d, %share : f32
    linalg.yield %r : f32
  } -> tensor<?x7xf32>
  %dp2 = sparse.spmm %a transpose, %dscores, %z2 : tensor<?x?xf32, #sparse.csr>, tensor<?x7xf32>, tensor<?x7xf32>
  %dhidden = linalg.matmul indexing_maps = [#left, #rightT, #out] ins(%dp2, %w2 : tensor<?x7xf32>, tensor<16x7xf32>) outs(%z1 : tensor<?x16xf32>) -> tensor<?x16xf32>
  %ds1 = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%dhidden, %hidden : tensor<?x16xf32>, tensor<?x16xf32>) outs(%e1 : tensor<?x16xf32>) {
  ^bb0(%d: f32, %h: f32, %unused: f32):
    %on = arith.cmpf ogt, %h, %zero : f32
    %r = arith.select %on, %d, %zero : f32
    linalg.yield %r : f32
  } -> tensor<?x16xf32>
  %dp1 = sparse.spmm %a transpose, %ds1, %z1 : tensor<?x?xf32, #sparse.csr>, tensor<?x16xf32>, tensor<?x16xf32>
  %ew1 = tensor.empty(%features) : tensor<?x16xf32>
  %zw1 = linalg.fill ins(%zero : f32) outs(%ew1 : tensor<?x16xf32>) -> tensor<?x16xf32>
  %dw1 = linalg.matmul indexing_maps = [#leftT, #right, #out] ins(%x, %dp1 : tensor<?x?xf32>, tensor<?x16xf32>) outs(%zw1 : tensor<?x16xf32>) -> tensor<?x16xf32>

  // A step downhill; what adds up to a slope is taken from the weights directly.
  %w1new = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]} ins(%dw1 : tensor<?x16xf32>) outs(%w1 : tensor<?x16xf32>) {
  ^bb0(%d: f32, %w: f32):
    %s = arith.mulf %d, %rate : f32
    %r = arith.subf %w, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x16xf32>
  %b1new = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%ds1 : tensor<?x16xf32>) outs(%b1 : tensor<16xf32>) {
  ^bb0(%d: f32, %b: f32):
    %s = arith.mulf %d, %rate : f32
    %r = arith.subf %b, %s : f32
    linalg.yield %r : f32
  } -> tensor<16xf32>
  %w2new = linalg.generic {indexing_maps = [#leftT, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%hidden, %dp2 : tensor<?x16xf32>, tensor<?x7xf32>) outs(%w2 : tensor<16x7xf32>) {
  ^bb0(%h: f32, %d: f32, %w: f32):
    %p = arith.mulf %h, %d : f32
    %s = arith.mulf %p, %rate : f32
    %r = arith.subf %w, %s : f32
    linalg.yield %r : f32
  } -> tensor<16x7xf32>
  %b2new = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]}
      ins(%dscores : tensor<?x7xf32>) outs(%b2 : tensor<7xf32>) {
  ^bb0(%d: f32, %b: f32):
    %s = arith.mulf %d, %rate : f32
    %r = arith.subf %b, %s : f32
    linalg.yield %r : f32
  } -> tensor<7xf32>
  return %w1new, %b1new, %w2new, %b2new, %loss : tensor<?x16xf32>, tensor<16xf32>, tensor<16x7xf32>, tensor<7xf32>, tensor<f32>
}
