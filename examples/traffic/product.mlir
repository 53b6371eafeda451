// A product whose tile is yours to choose: put a power of two in place of TILE. docs/python.md draws the bytes it reads.
module attributes {tile.machine = #tile.machine<"sm_80">} {
  func.func @main(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
    %d = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%c : tensor<256x256xf32>)
    attrs = {tile.schedule = #tile.schedule<block = [TILE, TILE, 32], warps = [2, 2, 1], stages = 2>} {
    ^bb0(%x: f16, %y: f16, %sum: f32):
      %p = arith.extf %x : f16 to f32
      %q = arith.extf %y : f16 to f32
      %r = arith.mulf %p, %q : f32
      %s = arith.addf %sum, %r : f32
      linalg.yield %s : f32
    } -> tensor<256x256xf32>
    return %d : tensor<256x256xf32>
  }
}
