// Softmax of f16 and layernorm are one kernel each on a GPU, without an option. Odd sizes.
// RUN: %tile_run %s --target=emulate:sm_90a --check-against=interpret --stats=%t.json
// RUN: FileCheck %s --input-file=%t.json
// RUN: %tile_run %s --target=emulate:gfx942 --check-against=interpret --stats=%t.json --seed=1
// RUN: FileCheck %s --input-file=%t.json
// CHECK: "launches": 2,
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @main(%h: tensor<13x333xf16>, %x: tensor<7x531xf32>, %g: tensor<531xf32>, %b: tensor<531xf32>)
    -> (tensor<13x333xf16>, tensor<7x531xf32>) {
  %we = tensor.empty() : tensor<13x333xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<13x333xf16>) outs(%we : tensor<13x333xf32>) {
  ^bb0(%v: f16, %o: f32):
    %t = arith.extf %v : f16 to f32
    linalg.yield %t : f32
  } -> tensor<13x333xf32>
  %pe = tensor.empty() : tensor<13x333xf32>
  %p = linalg.softmax dimension(1) ins(%w : tensor<13x333xf32>) outs(%pe : tensor<13x333xf32>) -> tensor<13x333xf32>
  %re = tensor.empty() : tensor<13x333xf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<13x333xf32>) outs(%re : tensor<13x333xf16>) {
  ^bb0(%v: f32, %o: f16):
    %t = arith.truncf %v : f32 to f16
    linalg.yield %t : f16
  } -> tensor<13x333xf16>

  %z = arith.constant 0.0 : f32
  %n = arith.constant 531.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %se = tensor.empty() : tensor<7xf32>
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<7xf32>) -> tensor<7xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x531xf32>) outs(%s0 : tensor<7xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.addf %o, %v : f32
    linalg.yield %t : f32
  } -> tensor<7xf32>
  %ce = tensor.empty() : tensor<7x531xf32>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<7x531xf32>, tensor<7xf32>) outs(%ce : tensor<7x531xf32>) {
  ^bb0(%v: f32, %s: f32, %o: f32):
    %m = arith.divf %s, %n : f32
    %t = arith.subf %v, %m : f32
    linalg.yield %t : f32
  } -> tensor<7x531xf32>
  %square = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%centred : tensor<7x531xf32>) outs(%s0 : tensor<7xf32>) {
  ^bb0(%v: f32, %o: f32):
    %q = arith.mulf %v, %v : f32
    %t = arith.addf %o, %q : f32
    linalg.yield %t : f32
  } -> tensor<7xf32>
  %norm = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%centred, %square, %g, %b : tensor<7x531xf32>, tensor<7xf32>, tensor<531xf32>, tensor<531xf32>)
      outs(%ce : tensor<7x531xf32>) {
  ^bb0(%v: f32, %q: f32, %scale: f32, %shift: f32, %o: f32):
    %a = arith.divf %q, %n : f32
    %d = arith.addf %a, %tiny : f32
    %k = math.rsqrt %d : f32
    %t = arith.mulf %v, %k : f32
    %u = arith.mulf %t, %scale : f32
    %y = arith.addf %u, %shift : f32
    linalg.yield %y : f32
  } -> tensor<7x531xf32>
  return %r, %norm : tensor<13x333xf16>, tensor<7x531xf32>
}
