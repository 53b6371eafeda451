// Programs as they are written for mlir-opt --sparsifier and upstream's runner: they print what they compute.
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)) }>
#BSR = #sparse_tensor.encoding<{ map = (i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense) }>
#V = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#T3 = #sparse_tensor.encoding<{ map = (i, j, k) -> (i : compressed, j : compressed, k : compressed) }>
#same = {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
#two = {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}

func.func private @scale(%a: tensor<?x?xf64, #DCSR>) -> tensor<?x?xf64, #DCSR> {
  %two = arith.constant 2.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf64, #DCSR>
  %n = tensor.dim %a, %c1 : tensor<?x?xf64, #DCSR>
  %e = tensor.empty(%m, %n) : tensor<?x?xf64, #DCSR>
  %r = linalg.generic #same ins(%a : tensor<?x?xf64, #DCSR>) outs(%e : tensor<?x?xf64, #DCSR>) {
  ^bb0(%x: f64, %o: f64):
    %y = arith.mulf %x, %two : f64
    linalg.yield %y : f64
  } -> tensor<?x?xf64, #DCSR>
  return %r : tensor<?x?xf64, #DCSR>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %f0 = arith.constant 0.0 : f64
  %d = arith.constant dense<[[1.0, 0.0, 3.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, -4.0]]> : tensor<4x3xf64>
  %b = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf64>
  %z = arith.constant dense<0.0> : tensor<4x2xf64>

  // Scaling in place of its pattern, sizes unknown.
  %a = sparse_tensor.convert %d : tensor<4x3xf64> to tensor<4x3xf64, #DCSR>
  %open = tensor.cast %a : tensor<4x3xf64, #DCSR> to tensor<?x?xf64, #DCSR>
  %s = call @scale(%open) : (tensor<?x?xf64, #DCSR>) -> tensor<?x?xf64, #DCSR>
  sparse_tensor.print %s : tensor<?x?xf64, #DCSR>
  %n = sparse_tensor.number_of_entries %s : tensor<?x?xf64, #DCSR>
  vector.print %n : index
  %sd = sparse_tensor.convert %s : tensor<?x?xf64, #DCSR> to tensor<?x?xf64>
  %sv = vector.transfer_read %sd[%c0, %c0], %f0 : tensor<?x?xf64>, vector<4x3xf64>
  vector.print %sv : vector<4x3xf64>

  // Formats, and what is stored in each.
  %csr = sparse_tensor.convert %d : tensor<4x3xf64> to tensor<4x3xf64, #CSR>
  %csc = sparse_tensor.convert %csr : tensor<4x3xf64, #CSR> to tensor<4x3xf64, #CSC>
  %coo = sparse_tensor.convert %csc : tensor<4x3xf64, #CSC> to tensor<4x3xf64, #COO>
  sparse_tensor.print %csc : tensor<4x3xf64, #CSC>
  sparse_tensor.print %coo : tensor<4x3xf64, #COO>
  %d4 = arith.constant dense<[[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 3]]> : tensor<4x4xi32>
  %bsr = sparse_tensor.convert %d4 : tensor<4x4xi32> to tensor<4x4xi32, #BSR>
  sparse_tensor.print %bsr : tensor<4x4xi32, #BSR>

  // Products.
  %p = linalg.matmul ins(%csr, %b : tensor<4x3xf64, #CSR>, tensor<3x2xf64>) outs(%z : tensor<4x2xf64>) -> tensor<4x2xf64>
  %pv = vector.transfer_read %p[%c0, %c0], %f0 : tensor<4x2xf64>, vector<4x2xf64>
  vector.print %pv : vector<4x2xf64>
  %bs = sparse_tensor.convert %b : tensor<3x2xf64> to tensor<3x2xf64, #CSR>
  %e = tensor.empty() : tensor<4x2xf64, #CSR>
  %q = linalg.matmul ins(%csr, %bs : tensor<4x3xf64, #CSR>, tensor<3x2xf64, #CSR>) outs(%e : tensor<4x2xf64, #CSR>) -> tensor<4x2xf64, #CSR>
  sparse_tensor.print %q : tensor<4x2xf64, #CSR>

  // Union with another body where both are stored, and a selection.
  %t = arith.constant dense<[[0.0, 7.0, 1.0], [0.0, 1.0, 0.0], [8.0, 0.0, 0.0], [0.0, 0.0, 0.0]]> : tensor<4x3xf64>
  %other = sparse_tensor.convert %t : tensor<4x3xf64> to tensor<4x3xf64, #CSR>
  %eu = tensor.empty() : tensor<4x3xf64, #CSR>
  %u = linalg.generic #two ins(%csr, %other : tensor<4x3xf64, #CSR>, tensor<4x3xf64, #CSR>) outs(%eu : tensor<4x3xf64, #CSR>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %r = sparse_tensor.binary %x, %y : f64, f64 to f64
      overlap = {
      ^bb0(%l: f64, %m: f64):
        %w = arith.maximumf %l, %m : f64
        sparse_tensor.yield %w : f64
      }
      left = identity
      right = identity
    linalg.yield %r : f64
  } -> tensor<4x3xf64, #CSR>
  sparse_tensor.print %u : tensor<4x3xf64, #CSR>
  %es = tensor.empty() : tensor<4x3xf64, #CSR>
  %k = linalg.generic #same ins(%u : tensor<4x3xf64, #CSR>) outs(%es : tensor<4x3xf64, #CSR>) {
  ^bb0(%x: f64, %o: f64):
    %r = sparse_tensor.select %x : f64 {
    ^bb0(%l: f64):
      %two = arith.constant 2.0 : f64
      %keep = arith.cmpf ogt, %l, %two : f64
      sparse_tensor.yield %keep : i1
    }
    linalg.yield %r : f64
  } -> tensor<4x3xf64, #CSR>
  sparse_tensor.print %k : tensor<4x3xf64, #CSR>

  // Vectors, three axes, entry by entry.
  %dv = arith.constant sparse<[[1], [5]], [3, 4]> : tensor<8xi32>
  %v = sparse_tensor.convert %dv : tensor<8xi32> to tensor<8xi32, #V>
  sparse_tensor.print %v : tensor<8xi32, #V>
  %d3 = arith.constant sparse<[[0, 0, 1], [1, 2, 0], [1, 2, 3]], [1.0, 2.0, 3.0]> : tensor<2x3x4xf32>
  %t3 = sparse_tensor.convert %d3 : tensor<2x3x4xf32> to tensor<2x3x4xf32, #T3>
  sparse_tensor.print %t3 : tensor<2x3x4xf32, #T3>
  sparse_tensor.foreach in %t3 : tensor<2x3x4xf32, #T3> do {
  ^bb0(%i: index, %j: index, %l: index, %x: f32):
    vector.print %l : index
    vector.print %x : f32
  }
  %cat = sparse_tensor.concatenate %csr, %other {dimension = 0 : index} : tensor<4x3xf64, #CSR>, tensor<4x3xf64, #CSR> to tensor<8x3xf64, #CSR>
  sparse_tensor.print %cat : tensor<8x3xf64, #CSR>

  bufferization.dealloc_tensor %s : tensor<?x?xf64, #DCSR>
  bufferization.dealloc_tensor %csr : tensor<4x3xf64, #CSR>
  return
}
