// Two layers of a graph attention network (Velickovic and others, ICLR 2018), forward: 8 heads of 8 features and elu, then
// one head of 7 classes. A head, whose features are h = x · w, gives
//
//   out(i) = Σ_j weight(i, j) · h(j)    weight(i, j) = softmax over j of leaky_relu(h(i) · from + h(j) · to)
//
// where j runs over the entries of row i of the graph, a csr matrix as scipy.sparse saves it; its values take no part. Heads
// stand side by side, as axis 1: the loop over heads is one kernel, which stores neither scores nor weights.
!graph = tensor<?x?xf32, #sparse.csr>
#nodes = affine_map<(k, n, f, c) -> (n, c)>
#weights = affine_map<(k, n, f, c) -> (k, c, f)>
#features = affine_map<(k, n, f, c) -> (n, k, f)>
#all = affine_map<(k, n, f) -> (n, k, f)>
#ends = affine_map<(k, n, f) -> (k, f)>
#parts = affine_map<(k, n, f) -> (n, k)>
#hidden = affine_map<(n, g, k, f) -> (n, k, f)>
#second = affine_map<(n, g, k, f) -> (k, f, g)>
#classes = affine_map<(n, g, k, f) -> (n, g)>
#matrix = affine_map<(n, g) -> (n, g)>
#end = affine_map<(n, g) -> (g)>
#part = affine_map<(n, g) -> (n)>

func.func @main(%graph: !graph, %x: tensor<?x?xf32>, %w1: tensor<8x?x8xf32>, %from1: tensor<8x8xf32>, %to1: tensor<8x8xf32>,
    %w2: tensor<8x8x7xf32>, %from2: tensor<7xf32>, %to2: tensor<7xf32>) -> (tensor<?x8x8xf32>, tensor<?x7xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %slope = arith.constant 0.2 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>

  %e1 = tensor.empty(%n) : tensor<?x8x8xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x8x8xf32>) -> tensor<?x8x8xf32>
  %h1 = linalg.generic {indexing_maps = [#nodes, #weights, #features], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w1 : tensor<?x?xf32>, tensor<8x?x8xf32>) outs(%z1 : tensor<?x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x8x8xf32>
  %es = tensor.empty(%n) : tensor<?x8xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x8xf32>) -> tensor<?x8xf32>
  %s1, %d1 = linalg.generic {indexing_maps = [#all, #ends, #ends, #parts, #parts], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h1, %from1, %to1 : tensor<?x8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) outs(%zs, %zs : tensor<?x8xf32>, tensor<?x8xf32>) {
  ^bb0(%h: f32, %a: f32, %b: f32, %s: f32, %d: f32):
    %p = arith.mulf %h, %a : f32
    %q = arith.mulf %h, %b : f32
    %r = arith.addf %s, %p : f32
    %t = arith.addf %d, %q : f32
    linalg.yield %r, %t : f32, f32
  } -> (tensor<?x8xf32>, tensor<?x8xf32>)

  %layer1 = scf.for %k = %c0 to %c8 step %c1 iter_args(%out = %z1) -> (tensor<?x8x8xf32>) {
    %h = tensor.extract_slice %h1[0, %k, 0] [%n, 1, 8] [1, 1, 1] : tensor<?x8x8xf32> to tensor<?x8xf32>
    %s = tensor.extract_slice %s1[0, %k] [%n, 1] [1, 1] : tensor<?x8xf32> to tensor<?xf32>
    %d = tensor.extract_slice %d1[0, %k] [%n, 1] [1, 1] : tensor<?x8xf32> to tensor<?xf32>
    %from = tensor.expand_shape %s [[0, 1]] output_shape [%n, 1] : tensor<?xf32> into tensor<?x1xf32>
    %to = tensor.expand_shape %d [[0, 1]] output_shape [%n, 1] : tensor<?xf32> into tensor<?x1xf32>
    %sums = sparse.sddmm %from, %to transpose, %graph over max_plus : tensor<?x1xf32>, tensor<?x1xf32>, !graph
    %scores = sparse.map %sums : !graph {
    ^bb0(%v: f32, %i: index, %j: index):
      %scaled = arith.mulf %v, %slope : f32
      %isOver = arith.cmpf ogt, %v, %zero : f32
      %r = arith.select %isOver, %v, %scaled : f32
      sparse.yield %r : f32
    }
    %weights = sparse.softmax %scores along 1 : !graph
    %init = tensor.extract_slice %out[0, %k, 0] [%n, 1, 8] [1, 1, 1] : tensor<?x8x8xf32> to tensor<?x8xf32>
    %head = sparse.spmm %weights, %h, %init : !graph, tensor<?x8xf32>, tensor<?x8xf32>
    %next = tensor.insert_slice %head into %out[0, %k, 0] [%n, 1, 8] [1, 1, 1] : tensor<?x8xf32> into tensor<?x8x8xf32>
    scf.yield %next : tensor<?x8x8xf32>
  }

  // elu, and the second layer's product.
  %e2 = tensor.empty(%n) : tensor<?x7xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x7xf32>) -> tensor<?x7xf32>
  %elu = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%layer1 : tensor<?x8x8xf32>) outs(%e1 : tensor<?x8x8xf32>) {
  ^bb0(%v: f32, %unused: f32):
    %less = math.expm1 %v : f32
    %isOver = arith.cmpf ogt, %v, %zero : f32
    %r = arith.select %isOver, %v, %less : f32
    linalg.yield %r : f32
  } -> tensor<?x8x8xf32>
  %h2 = linalg.generic {indexing_maps = [#hidden, #second, #classes], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%elu, %w2 : tensor<?x8x8xf32>, tensor<8x8x7xf32>) outs(%z2 : tensor<?x7xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b : f32
    %r = arith.addf %s, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x7xf32>
  %ev = tensor.empty(%n) : tensor<?xf32>
  %zv = linalg.fill ins(%zero : f32) outs(%ev : tensor<?xf32>) -> tensor<?xf32>
  %s2, %d2 = linalg.generic {indexing_maps = [#matrix, #end, #end, #part, #part], iterator_types = ["parallel", "reduction"]}
      ins(%h2, %from2, %to2 : tensor<?x7xf32>, tensor<7xf32>, tensor<7xf32>) outs(%zv, %zv : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%h: f32, %a: f32, %b: f32, %s: f32, %d: f32):
    %p = arith.mulf %h, %a : f32
    %q = arith.mulf %h, %b : f32
    %r = arith.addf %s, %p : f32
    %t = arith.addf %d, %q : f32
    linalg.yield %r, %t : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  %from = tensor.expand_shape %s2 [[0, 1]] output_shape [%n, 1] : tensor<?xf32> into tensor<?x1xf32>
  %to = tensor.expand_shape %d2 [[0, 1]] output_shape [%n, 1] : tensor<?xf32> into tensor<?x1xf32>
  %sums = sparse.sddmm %from, %to transpose, %graph over max_plus : tensor<?x1xf32>, tensor<?x1xf32>, !graph
  %scores = sparse.map %sums : !graph {
  ^bb0(%v: f32, %i: index, %j: index):
    %scaled = arith.mulf %v, %slope : f32
    %isOver = arith.cmpf ogt, %v, %zero : f32
    %r = arith.select %isOver, %v, %scaled : f32
    sparse.yield %r : f32
  }
  %weights = sparse.softmax %scores along 1 : !graph
  %layer2 = sparse.spmm %weights, %h2, %z2 : !graph, tensor<?x7xf32>, tensor<?x7xf32>
  return %layer1, %layer2 : tensor<?x8x8xf32>, tensor<?x7xf32>
}
