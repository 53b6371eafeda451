// A constant that lists its elements stores the zeros among them, of either sign; a custom reduction over what is stored
// starts from its identity, whatever the output holds.
#V = #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>
#M = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed) }>
#sum = {
  indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
  iterator_types = ["reduction"]
}
#columns = {
  indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
  iterator_types = ["reduction", "parallel"]
}

func.func @least(%a: tensor<9xi32, #V>, %x: tensor<i32>) -> tensor<i32> {
  %identity = arith.constant 100 : i32
  %0 = linalg.generic #sum ins(%a : tensor<9xi32, #V>) outs(%x : tensor<i32>) {
  ^bb0(%in: i32, %out: i32):
    %1 = sparse_tensor.reduce %in, %out, %identity : i32 {
    ^bb0(%p: i32, %q: i32):
      %2 = arith.minsi %p, %q : i32
      sparse_tensor.yield %2 : i32
    }
    linalg.yield %1 : i32
  } -> tensor<i32>
  return %0 : tensor<i32>
}

func.func @products(%a: tensor<3x4xf64, #M>, %x: tensor<4xf64>) -> tensor<4xf64> {
  %identity = arith.constant 2.0 : f64
  %0 = linalg.generic #columns ins(%a : tensor<3x4xf64, #M>) outs(%x : tensor<4xf64>) {
  ^bb0(%in: f64, %out: f64):
    %1 = sparse_tensor.reduce %in, %out, %identity : f64 {
    ^bb0(%p: f64, %q: f64):
      %2 = arith.mulf %p, %q : f64
      sparse_tensor.yield %2 : f64
    }
    linalg.yield %1 : f64
  } -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %v = arith.constant sparse<[[7], [2], [4]], [5, 0, 3]> : tensor<9xi32>
  %s = sparse_tensor.convert %v : tensor<9xi32> to tensor<9xi32, #V>
  sparse_tensor.print %s : tensor<9xi32, #V>
  %low = arith.constant dense<-7> : tensor<i32>
  %least = call @least(%s, %low) : (tensor<9xi32, #V>, tensor<i32>) -> tensor<i32>
  %l = tensor.extract %least[] : tensor<i32>
  vector.print %l : i32
  %m = arith.constant sparse<[[0, 1], [2, 1], [1, 3], [0, 0]], [3.0, 4.0, -0.0, 0.0]> : tensor<3x4xf64>
  %t = sparse_tensor.convert %m : tensor<3x4xf64> to tensor<3x4xf64, #M>
  sparse_tensor.print %t : tensor<3x4xf64, #M>
  %ones = arith.constant dense<9.0> : tensor<4xf64>
  %products = call @products(%t, %ones) : (tensor<3x4xf64, #M>, tensor<4xf64>) -> tensor<4xf64>
  %p = vector.transfer_read %products[%c0], %zero : tensor<4xf64>, vector<4xf64>
  vector.print %p : vector<4xf64>
  return
}
