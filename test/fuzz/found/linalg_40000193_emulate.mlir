// Program 40000193 of the fuzzer, cut down: wrong on GPUs: a group with a result without elements did not store its other result.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s
// in: normal i16 1x5 91098
func.func @main(%v0: tensor<1x5xi16>) -> (tensor<i16>, tensor<1x0xi16>) {
  %v1 = arith.constant 0 : i16
  %v2 = arith.constant dense<0> : tensor<i16>
  %v3 = linalg.fill ins(%v1 : i16) outs(%v2 : tensor<i16>) -> tensor<i16>
  %v4 = linalg.reduce { arith.maxsi } ins(%v0 : tensor<1x5xi16>) outs(%v3 : tensor<i16>) dimensions = [0, 1]
  %v5 = arith.constant dense<0> : tensor<0xi16>
  %v6 = linalg.broadcast ins(%v4 : tensor<i16>) outs(%v5 : tensor<0xi16>) dimensions = [0]
  %v7 = arith.constant true
  %v8 = scf.if %v7 -> (tensor<i16>) {
    scf.yield %v4 : tensor<i16>
  } else {
    scf.yield %v4 : tensor<i16>
  }
  %v9 = arith.constant dense<0> : tensor<1x0xi16>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> ()>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%v0, %v4, %v6 : tensor<1x5xi16>, tensor<i16>, tensor<0xi16>) outs(%v9 : tensor<1x0xi16>) {
  ^bb0(%v10: i16, %v11: i16, %v12: i16, %v13: i16):
    linalg.yield %v12 : i16
  } -> tensor<1x0xi16>
  return %v8, %v14 : tensor<i16>, tensor<1x0xi16>
}
