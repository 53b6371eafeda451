// Two layers of a graph convolutional network (Kipf and Welling, ICLR 2017), forward:
//
//   hidden = relu(Â · (x · w1) + b1)        scores = Â · (hidden · w2) + b2
//
// Â is the graph with self loops, scaled by the square roots of both degrees; it comes as scipy.sparse saves a csr matrix.
#row = affine_map<(i, j) -> (i, j)>
#bias = affine_map<(i, j) -> (j)>

func.func @main(%a: tensor<?x?xf32, #sparse.csr>, %x: tensor<?x?xf32>, %w1: tensor<?x16xf32>, %b1: tensor<16xf32>, %w2: tensor<16x7xf32>, %b2: tensor<7xf32>)
    -> tensor<?x7xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %nodes = tensor.dim %x, %c0 : tensor<?x?xf32>

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
  return %scores : tensor<?x7xf32>
}
