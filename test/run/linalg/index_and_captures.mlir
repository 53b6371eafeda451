// RUN: %python %source/test/run/check.py %tile_run %s
// RUN: %python %source/test/run/check.py %tile_run %s --check-against=interpret
// linalg.index, a scalar from outside the body, a comparison and an integer result.
// in: normal(5, 300), np.float32(0.25)
// in: normal(1, 3), np.float32(-1)
// expect: (np.where(x0 > x1, np.arange(x0.shape[1])[None, :] * 3 + np.arange(x0.shape[0])[:, None], -7)).astype(i32)
// tolerance: 0
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<?x?xf32>, %limit: f32) -> tensor<?x?xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %minus = arith.constant -7 : i32
  %three = arith.constant 3 : index
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xi32>) {
  ^bb0(%a: f32, %unused: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %j3 = arith.muli %j, %three : index
    %p = arith.addi %i, %j3 : index
    %q = arith.index_cast %p : index to i32
    %c = arith.cmpf ogt, %a, %limit : f32
    %s = arith.select %c, %q, %minus : i32
    linalg.yield %s : i32
  } -> tensor<?x?xi32>
  return %y : tensor<?x?xi32>
}
