// A's rows come in runs of 37 elements, and a block of 13 runs ends past k, which has 37: the last block is cut there.
// RUN: %tile_run %s --check-against=interpret | FileCheck %s
// In bf16 with runs of 48: an instruction for dot products takes only whole groups of 16 along a run.
// RUN: sed 's/f16/bf16/g; s/481/144/; s/1369/2304/; s/9583/16128/; s/259/336/; s/37/48/g' %s > %t.mlir
// RUN: %tile_run %t.mlir --check-against=interpret | FileCheck %s
// CHECK: result 0: right
#lhs = affine_map<(m, n, k) -> (m * 37 + k mod 37 + (k floordiv 37) * 259)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
func.func @main(%x: tensor<37x7x37xf16>, %y: tensor<37x37x17xf16>, %c: tensor<7x17xf32>) -> tensor<7x17xf32> {
  %a = tensor.collapse_shape %x [[0, 1, 2]] : tensor<37x7x37xf16> into tensor<9583xf16>
  %b = tensor.collapse_shape %y [[0, 1], [2]] : tensor<37x37x17xf16> into tensor<1369x17xf16>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<9583xf16>, tensor<1369x17xf16>) outs(%c : tensor<7x17xf32>)
      attrs = {tile.schedule = #tile.schedule<kind = "packed", block = [8, 32, 481], register = [4, 16]>} {
  ^bb0(%u: f16, %v: f16, %s: f32):
    %0 = arith.extf %u : f16 to f32
    %1 = arith.extf %v : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<7x17xf32>
  return %r : tensor<7x17xf32>
}
