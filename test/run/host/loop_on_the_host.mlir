// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// A kernel in a loop of the host: x <- x/2 + 1, n times, and a scalar result.
// in: normal(1003), np.int64(0)
// in: normal(1003), np.int64(5)
// expect: x0.astype(f64) * 0.5 ** x1 + 2 * (1 - 0.5 ** x1)
// expect: x1 * 2
// tolerance: 1e-6
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<1003xf32>, %n: index) -> (tensor<1003xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x, %k = %n) -> (tensor<1003xf32>, index) {
    %e = tensor.empty() : tensor<1003xf32>
    %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%y : tensor<1003xf32>) outs(%e : tensor<1003xf32>) {
    ^bb0(%a: f32, %unused: f32):
      %h = arith.mulf %a, %half : f32
      %s = arith.addf %h, %one : f32
      linalg.yield %s : f32
    } -> tensor<1003xf32>
    %l = arith.addi %k, %c1 : index
    scf.yield %z, %l : tensor<1003xf32>, index
  }
  return %r#0, %r#1 : tensor<1003xf32>, index
}
