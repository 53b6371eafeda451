// Three matrices; the number of a row is an argument.
func.func @main(%ids: tensor<2xi64>) -> tensor<2x4xf32> {
  %x = arith.constant dense<1.0> : tensor<2x3xf32>
  %w = arith.constant dense<2.0> : tensor<3x3x4xf32>
  %y = arith.constant dense<0.0> : tensor<2x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(t, n, k) -> (t, k)>, affine_map<(t, n, k) -> (t)>, affine_map<(t, n, k) -> (t, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %ids : tensor<2x3xf32>, tensor<2xi64>) outs(%y : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: i64, %o: f32):
    %q = arith.index_cast %b : i64 to index
    %k = linalg.index 2 : index
    %j = linalg.index 1 : index
    %c = tensor.extract %w[%q, %k, %j] : tensor<3x3x4xf32>
    %m = arith.mulf %a, %c : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
