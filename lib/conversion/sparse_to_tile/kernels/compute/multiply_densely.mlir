// A dense product on the host, which later passes make kernels of.
//   type $L = tensor<8x16xf32>, $R = tensor<16x4xf32>, $C = tensor<8x4xf32>
func.func @multiply(%a: $L, %b: $R, %c: $C) -> $C {
  %r = linalg.matmul ins(%a, %b : $L, $R) outs(%c : $C) -> $C
  return %r : $C
}
