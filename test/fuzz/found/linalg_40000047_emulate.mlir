// Program 40000047 of the fuzzer, cut down: invalid on GPUs: a softmax of a row of unknown length was put into a group.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s
// in: normal f32 1 649086
func.func @main(%v0: tensor<?xf32>) -> (tensor<1xf32>) {
  %v1 = arith.constant 0 : index
  %v2 = tensor.dim %v0, %v1 : tensor<?xf32>
  %v3 = tensor.empty(%v2) : tensor<?xf32>
  %v4 = arith.constant 2.0 : f32
  %v5 = linalg.softmax dimension(0) ins(%v0 : tensor<?xf32>) outs(%v3 : tensor<?xf32>) -> tensor<?xf32>
  %v6 = arith.constant dense<0.0> : tensor<f32>
  %v7 = linalg.fill ins(%v4 : f32) outs(%v6 : tensor<f32>) -> tensor<f32>
  %v12 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%v5, %v5 : tensor<?xf32>, tensor<?xf32>) outs(%v7 : tensor<f32>) {
  ^bb0(%v8: f32, %v9: f32, %v10: f32):
    %v11 = arith.minnumf %v8, %v10 : f32
    linalg.yield %v11 : f32
  } -> tensor<f32>
  %v13 = arith.constant dense<0.0> : tensor<1xf32>
  %v14 = linalg.broadcast ins(%v12 : tensor<f32>) outs(%v13 : tensor<1xf32>) dimensions = [0]
  return %v14 : tensor<1xf32>
}
