// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// The accumulator starts from an argument; nothing of it may be lost, and the argument itself stays as it was.
// in: normal(19, 257), normal(19)
// in: normal(2, 1), normal(2)
// expect: x1.astype(f64) + (x0.astype(f64) ** 2).sum(axis=1)
// expect: x1
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x?xf32>, %start: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%a: f32, %s: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r, %start : tensor<?xf32>, tensor<?xf32>
}
