// Program 181 of the fuzzer, cut down: wrong on cpu. 
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu --replay %s
// in: normal i1 1x0x2x13 482018
func.func @main(%v0: tensor<1x0x2x13xi1>) -> (tensor<1x2xi1>) {
  %v1 = arith.constant dense<false> : tensor<1x2xi1>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d3, d2, d0)>, affine_map<(d0, d1, d2, d3) -> (d1, d2)>], iterator_types = ["reduction", "parallel", "parallel", "reduction"]} ins(%v0 : tensor<1x0x2x13xi1>) outs(%v1 : tensor<1x2xi1>) {
  ^bb0(%v2: i1, %v3: i1):
    linalg.yield %v2 : i1
  } -> tensor<1x2xi1>
  return %v4 : tensor<1x2xi1>
}
