// Program 100000366 of the fuzzer, cut down: layouts whose exchange needs more shared memory than the chip has were chosen.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=emulate:gfx942 --replay %s
// in: normal bf16 0x1 67264
// in: special f32 1x17 848797
func.func @main(%v0: tensor<?x?xbf16>, %v1: tensor<?x17xf32>) -> (tensor<1x17xbf16>) {
  %v2 = arith.constant 1 : index
  %v3 = tensor.dim %v0, %v2 : tensor<?x?xbf16>
  %v4 = arith.constant 0 : index
  %v5 = tensor.dim %v1, %v4 : tensor<?x17xf32>
  %e = tensor.empty(%v3, %v5) : tensor<?x?x17xbf16>
  %zero = arith.constant 0.0 : bf16
  %v6 = linalg.fill ins(%zero : bf16) outs(%e : tensor<?x?x17xbf16>) -> tensor<?x?x17xbf16>
  %v11 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d0)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>], iterator_types = ["parallel", "reduction", "parallel", "parallel"]} ins(%v0, %v1 : tensor<?x?xbf16>, tensor<?x17xf32>) outs(%v6 : tensor<?x?x17xbf16>) {
  ^bb0(%v7: bf16, %v8: f32, %v9: bf16):
    %v10 = arith.maxnumf %v7, %v9 : bf16
    linalg.yield %v10 : bf16
  } -> tensor<?x?x17xbf16>
  %v12 = arith.constant dense<0.0> : tensor<17xbf16>
  %v16 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2)>], iterator_types = ["reduction", "reduction", "parallel"]} ins(%v11, %v1 : tensor<?x?x17xbf16>, tensor<?x17xf32>) outs(%v12 : tensor<17xbf16>) {
  ^bb0(%v13: bf16, %v14: f32, %v15: bf16):
    linalg.yield %v13 : bf16
  } -> tensor<17xbf16>
  %v17 = arith.constant dense<0.0> : tensor<1x17xbf16>
  %v18 = linalg.broadcast ins(%v16 : tensor<17xbf16>) outs(%v17 : tensor<1x17xbf16>) dimensions = [0]
  return %v18 : tensor<1x17xbf16>
}
