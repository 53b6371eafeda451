// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// What no kernel covers (here: a floordiv in a map) goes by upstream's route, gives the right answer, is counted.
// fallback: 1
// in: normal(19)
// expect: np.repeat(x0, 2)[:38]
func.func @main(%x: tensor<19xf32>) -> tensor<38xf32> {
  %e = tensor.empty() : tensor<38xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<19xf32>) outs(%e : tensor<38xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<38xf32>
  return %y : tensor<38xf32>
}
