// Products of f16 whose results go through rows of ldmatrix: see exchange_rows.mlir.
#s = #tile.schedule<block = [64, 128, 32], warps = [2, 2, 1]>
func.func @main(%a: tensor<128x64xf16>, %b: tensor<64x256xf16>) -> tensor<128x256xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<128x256xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<128x256xf16>) -> tensor<128x256xf16>
  %0 = linalg.matmul {tile.schedule = #s} ins(%a, %b : tensor<128x64xf16>, tensor<64x256xf16>) outs(%f : tensor<128x256xf16>) -> tensor<128x256xf16>
  return %0 : tensor<128x256xf16>
}
func.func @odd(%a: tensor<133x72xbf16>, %b: tensor<72x136xbf16>) -> tensor<133x136xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<133x136xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<133x136xbf16>) -> tensor<133x136xbf16>
  %0 = linalg.matmul {tile.schedule = #s} ins(%a, %b : tensor<133x72xbf16>, tensor<72x136xbf16>) outs(%f : tensor<133x136xbf16>) -> tensor<133x136xbf16>
  return %0 : tensor<133x136xbf16>
}
