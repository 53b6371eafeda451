// A product whose epilogue stores another element type: sums are i32, the output i1.
// RUN: %tile_run %s --target=cpu --target=emulate:sm_80 --check-against=interpret
func.func @main(%a: tensor<3x50x330xi8>, %b: tensor<3x330x70xi8>) -> tensor<70x50x3xi1> {
  %one = arith.constant 1 : i32
  %e = tensor.empty() : tensor<3x50x70xi32>
  %f = linalg.fill ins(%one : i32) outs(%e : tensor<3x50x70xi32>) -> tensor<3x50x70xi32>
  %p = linalg.batch_matmul ins(%a, %b : tensor<3x50x330xi8>, tensor<3x330x70xi8>) outs(%f : tensor<3x50x70xi32>) -> tensor<3x50x70xi32>
  %o = tensor.empty() : tensor<70x50x3xi1>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d1, d0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p : tensor<3x50x70xi32>) outs(%o : tensor<70x50x3xi1>) {
  ^bb0(%v: i32, %w: i1):
    %z = arith.constant 0 : i32
    %c = arith.cmpi sle, %v, %z : i32
    linalg.yield %c : i1
  } -> tensor<70x50x3xi1>
  return %r : tensor<70x50x3xi1>
}
