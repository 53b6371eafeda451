// Program 40000051 of the fuzzer, cut down: wrong on the CPU: log10 of f32 came from the C library, which misses 1 ulp.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu --replay %s
// in: positive f32 33x17x1 240902
func.func @main(%v0: tensor<?x?x?xf32>) -> (tensor<?x?x?xf32>) {
  %v1 = arith.constant 1 : index
  %v2 = tensor.dim %v0, %v1 : tensor<?x?x?xf32>
  %v3 = arith.constant 2 : index
  %v4 = tensor.dim %v0, %v3 : tensor<?x?x?xf32>
  %v5 = arith.constant 0 : index
  %v6 = tensor.dim %v0, %v5 : tensor<?x?x?xf32>
  %v7 = tensor.empty(%v2, %v4, %v6) : tensor<?x?x?xf32>
  %v12, %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2, d0)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v0 : tensor<?x?x?xf32>) outs(%v7, %v7 : tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  ^bb0(%v8: f32, %v9: f32, %v10: f32):
    %v11 = math.log10 %v8 : f32
    linalg.yield %v11, %v11 : f32, f32
  } -> (tensor<?x?x?xf32>, tensor<?x?x?xf32>)
  return %v12 : tensor<?x?x?xf32>
}
