"""The programs that several of these tests look at or run."""

AXPY = """
func.func @main(%a: f32, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %a, %u : f32
    %s = arith.addf %p, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""

MATMUL = """
func.func @main(%a: tensor<5x7xf32>, %b: tensor<7x3xf32>, %c: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<5x7xf32>, tensor<7x3xf32>) outs(%c : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}
"""

# Doubles a memref in place.
DOUBLE = """
func.func @main(%m: memref<4x3xf32>) {
  linalg.add ins(%m, %m : memref<4x3xf32>, memref<4x3xf32>) outs(%m : memref<4x3xf32>)
  return
}
"""


def identity(element: str, shape: str = "4x3x") -> str:
    return f"func.func @main(%x: tensor<{shape}{element}>) -> tensor<{shape}{element}> {{ return %x : tensor<{shape}{element}> }}"
