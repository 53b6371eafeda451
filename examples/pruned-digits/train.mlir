// Training of the digit reader with masks: in every round the weights are pruned to 2 of 4 inputs, the network computes
// with what stays, and the gradient changes all weights, so that what stays may change (straight-through masks).
//
//   tile-run train.mlir --in=x.npy --in=target.npy --in=w1.npy --in=b1.npy --in=w2.npy --in=b2.npy --in=rounds.npy …
// Gives the weights that stay, and the biases.
#nm = #sparse.nm<n = 2, m = 4, axis = 0>
#row = affine_map<(d0, d1) -> (d1)>
#both = affine_map<(d0, d1) -> (d0, d1)>
func.func private @kept1(%w: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %p = sparse.prune %w : tensor<64x48xf32> -> tensor<64x48xf32, #nm>
  %d = sparse.unpack %p : tensor<64x48xf32, #nm> -> tensor<64x48xf32>
  return %d : tensor<64x48xf32>
}
func.func private @kept2(%w: tensor<48x10xf32>) -> tensor<48x10xf32> {
  %p = sparse.prune %w : tensor<48x10xf32> -> tensor<48x10xf32, #nm>
  %d = sparse.unpack %p : tensor<48x10xf32, #nm> -> tensor<48x10xf32>
  return %d : tensor<48x10xf32>
}
func.func @main(%x: tensor<1200x64xf32>, %target: tensor<1200x10xf32>, %w1s: tensor<64x48xf32>, %b1s: tensor<48xf32>,
                %w2s: tensor<48x10xf32>, %b2s: tensor<10xf32>, %rounds: tensor<i64>)
    -> (tensor<64x48xf32>, tensor<48xf32>, tensor<48x10xf32>, tensor<10xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant 0.3 : f32
  %share = arith.constant 8.33333333e-04 : f32
  %n64 = tensor.extract %rounds[] : tensor<i64>
  %n = arith.index_cast %n64 : i64 to index
  %eh = tensor.empty() : tensor<1200x48xf32>
  %ez = tensor.empty() : tensor<1200x10xf32>
  %e1 = tensor.empty() : tensor<64x48xf32>
  %e2 = tensor.empty() : tensor<48x10xf32>
  %eb1 = tensor.empty() : tensor<48xf32>
  %eb2 = tensor.empty() : tensor<10xf32>
  %zh = linalg.fill ins(%zero : f32) outs(%eh : tensor<1200x48xf32>) -> tensor<1200x48xf32>
  %zz = linalg.fill ins(%zero : f32) outs(%ez : tensor<1200x10xf32>) -> tensor<1200x10xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x48xf32>) -> tensor<64x48xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<48x10xf32>) -> tensor<48x10xf32>
  %zb1 = linalg.fill ins(%zero : f32) outs(%eb1 : tensor<48xf32>) -> tensor<48xf32>
  %zb2 = linalg.fill ins(%zero : f32) outs(%eb2 : tensor<10xf32>) -> tensor<10xf32>
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%w1 = %w1s, %b1 = %b1s, %w2 = %w2s, %b2 = %b2s)
      -> (tensor<64x48xf32>, tensor<48xf32>, tensor<48x10xf32>, tensor<10xf32>) {
    %m1 = func.call @kept1(%w1) : (tensor<64x48xf32>) -> tensor<64x48xf32>
    %m2 = func.call @kept2(%w2) : (tensor<48x10xf32>) -> tensor<48x10xf32>
    %s1 = linalg.matmul ins(%x, %m1 : tensor<1200x64xf32>, tensor<64x48xf32>) outs(%zh : tensor<1200x48xf32>) -> tensor<1200x48xf32>
    %h = linalg.generic {indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]}
        ins(%s1, %b1 : tensor<1200x48xf32>, tensor<48xf32>) outs(%eh : tensor<1200x48xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      %m = arith.maximumf %s, %zero : f32
      linalg.yield %m : f32
    } -> tensor<1200x48xf32>
    %s2 = linalg.matmul ins(%h, %m2 : tensor<1200x48xf32>, tensor<48x10xf32>) outs(%zz : tensor<1200x10xf32>) -> tensor<1200x10xf32>
    %z = linalg.generic {indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]}
        ins(%s2, %b2 : tensor<1200x10xf32>, tensor<10xf32>) outs(%ez : tensor<1200x10xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<1200x10xf32>
    %p = linalg.softmax dimension(1) ins(%z : tensor<1200x10xf32>) outs(%ez : tensor<1200x10xf32>) -> tensor<1200x10xf32>
    %dz = linalg.generic {indexing_maps = [#both, #both, #both], iterator_types = ["parallel", "parallel"]}
        ins(%p, %target : tensor<1200x10xf32>, tensor<1200x10xf32>) outs(%ez : tensor<1200x10xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %s = arith.mulf %d, %share : f32
      linalg.yield %s : f32
    } -> tensor<1200x10xf32>
    %back = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%dz, %m2 : tensor<1200x10xf32>, tensor<48x10xf32>) outs(%zh : tensor<1200x48xf32>) -> tensor<1200x48xf32>
    %dh = linalg.generic {indexing_maps = [#both, #both, #both], iterator_types = ["parallel", "parallel"]}
        ins(%back, %h : tensor<1200x48xf32>, tensor<1200x48xf32>) outs(%eh : tensor<1200x48xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %c = arith.cmpf ogt, %b, %zero : f32
      %s = arith.select %c, %a, %zero : f32
      linalg.yield %s : f32
    } -> tensor<1200x48xf32>
    %g1 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%x, %dh : tensor<1200x64xf32>, tensor<1200x48xf32>) outs(%z1 : tensor<64x48xf32>) -> tensor<64x48xf32>
    %g2 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%h, %dz : tensor<1200x48xf32>, tensor<1200x10xf32>) outs(%z2 : tensor<48x10xf32>) -> tensor<48x10xf32>
    %gb1 = linalg.reduce ins(%dh : tensor<1200x48xf32>) outs(%zb1 : tensor<48xf32>) dimensions = [0] (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
    %gb2 = linalg.reduce ins(%dz : tensor<1200x10xf32>) outs(%zb2 : tensor<10xf32>) dimensions = [0] (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
    %n1 = linalg.map ins(%w1, %g1 : tensor<64x48xf32>, tensor<64x48xf32>) outs(%e1 : tensor<64x48xf32>) (%a: f32, %b: f32, %o: f32) {
      %c = arith.mulf %b, %rate : f32
      %s = arith.subf %a, %c : f32
      linalg.yield %s : f32
    }
    %nb1 = linalg.map ins(%b1, %gb1 : tensor<48xf32>, tensor<48xf32>) outs(%eb1 : tensor<48xf32>) (%a: f32, %b: f32, %o: f32) {
      %c = arith.mulf %b, %rate : f32
      %s = arith.subf %a, %c : f32
      linalg.yield %s : f32
    }
    %n2 = linalg.map ins(%w2, %g2 : tensor<48x10xf32>, tensor<48x10xf32>) outs(%e2 : tensor<48x10xf32>) (%a: f32, %b: f32, %o: f32) {
      %c = arith.mulf %b, %rate : f32
      %s = arith.subf %a, %c : f32
      linalg.yield %s : f32
    }
    %nb2 = linalg.map ins(%b2, %gb2 : tensor<10xf32>, tensor<10xf32>) outs(%eb2 : tensor<10xf32>) (%a: f32, %b: f32, %o: f32) {
      %c = arith.mulf %b, %rate : f32
      %s = arith.subf %a, %c : f32
      linalg.yield %s : f32
    }
    scf.yield %n1, %nb1, %n2, %nb2 : tensor<64x48xf32>, tensor<48xf32>, tensor<48x10xf32>, tensor<10xf32>
  }
  %k1 = func.call @kept1(%r#0) : (tensor<64x48xf32>) -> tensor<64x48xf32>
  %k2 = func.call @kept2(%r#2) : (tensor<48x10xf32>) -> tensor<48x10xf32>
  return %k1, %r#1, %k2, %r#3 : tensor<64x48xf32>, tensor<48xf32>, tensor<48x10xf32>, tensor<10xf32>
}
