// Program 60000065 of the fuzzer, cut down: compiling for GPUs took hours: a group's sum over broadcast operands had a
// tile of 2 million elements in registers, which its footprint did not count.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s
// in: special f32 8x8 652419
// in: special i64 4x5x5 761958
// in: positive f64 16x5 845652
// in: normal f64 16x5x3 977474
func.func @main(%v0: tensor<?x8xf32>, %v1: tensor<?x?x?xi64>, %v2: tensor<?x?xf64>, %v3: tensor<16x5x3xf64>) -> (tensor<?x?x?xi64>) {
  %v4 = arith.constant 0 : index
  %v5 = tensor.dim %v1, %v4 : tensor<?x?x?xi64>
  %v6 = arith.constant 2 : index
  %v7 = tensor.dim %v1, %v6 : tensor<?x?x?xi64>
  %v8 = arith.constant 1 : index
  %v9 = tensor.dim %v1, %v8 : tensor<?x?x?xi64>
  %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v1, %v1 : tensor<?x?x?xi64>, tensor<?x?x?xi64>) outs(%v1 : tensor<?x?x?xi64>) {
  ^bb0(%v10: i64, %v11: i64, %v12: i64):
    linalg.yield %v10 : i64
  } -> tensor<?x?x?xi64>
  %v18 = arith.constant 0 : index
  %v19 = tensor.dim %v13, %v18 : tensor<?x?x?xi64>
  %v20 = arith.constant 1 : index
  %v21 = tensor.dim %v13, %v20 : tensor<?x?x?xi64>
  %v22 = arith.constant 2 : index
  %v23 = tensor.dim %v13, %v22 : tensor<?x?x?xi64>
  %v24 = tensor.empty(%v19, %v23) : tensor<?x?xi64>
  %v25 = arith.constant 0 : i64
  %v26 = linalg.fill ins(%v25 : i64) outs(%v24 : tensor<?x?xi64>) -> tensor<?x?xi64>
  %v27 = linalg.reduce { arith.ori } ins(%v13 : tensor<?x?x?xi64>) outs(%v26 : tensor<?x?xi64>) dimensions = [1]
  %v40 = arith.constant 0 : index
  %v41 = tensor.dim %v1, %v40 : tensor<?x?x?xi64>
  %v42 = arith.constant 2 : index
  %v43 = tensor.dim %v1, %v42 : tensor<?x?x?xi64>
  %v44 = arith.constant 1 : index
  %v45 = tensor.dim %v27, %v44 : tensor<?x?xi64>
  %v46 = tensor.empty(%v41, %v43, %v45) : tensor<?x?x?xi64>
  %v47 = arith.constant 3 : i64
  %v48 = linalg.fill ins(%v47 : i64) outs(%v46 : tensor<?x?x?xi64>) -> tensor<?x?x?xi64>
  %v56 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d0, d2)>, affine_map<(d0, d1, d2, d3) -> (d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>], iterator_types = ["reduction", "parallel", "parallel", "parallel"]} ins(%v1, %v27 : tensor<?x?x?xi64>, tensor<?x?xi64>) outs(%v48 : tensor<?x?x?xi64>) {
  ^bb0(%v49: i64, %v50: i64, %v51: i64):
    %v52 = arith.constant -2 : i64
    %v53 = arith.maxui %v50, %v52 : i64
    %v54 = arith.cmpi ne, %v50, %v53 : i64
    %v55 = arith.minui %v53, %v51 : i64
    linalg.yield %v55 : i64
  } -> tensor<?x?x?xi64>
  return %v56 : tensor<?x?x?xi64>
}
