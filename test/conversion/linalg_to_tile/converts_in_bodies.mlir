// A body of linalg may hold any op that works per element, also one of Tile's: saturation stays in it.
// RUN: %tile_run %s --check-against=interpret --stats=%t.json
// RUN: FileCheck %s --input-file=%t.json
// RUN: %tile_run %s --target=emulate:sm_80 --check-against=interpret
// RUN: %tile_run %s --target=emulate:gfx942 --check-against=interpret --seed=1
// CHECK: "fallback_ops": 0
#id = affine_map<(i, j) -> (i, j)>
func.func @main(%x: tensor<7x37xf32>) -> tensor<7x37xi8> {
  %e = tensor.empty() : tensor<7x37xi8>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<7x37xf32>) outs(%e : tensor<7x37xi8>) {
    ^bb0(%a: f32, %o: i8):
      %scale = arith.constant 100.0 : f32
      %scaled = arith.mulf %a, %scale : f32
      %c = tile.convert_type %scaled saturate : f32 -> i8
      linalg.yield %c : i8
  } -> tensor<7x37xi8>
  return %r : tensor<7x37xi8>
}
