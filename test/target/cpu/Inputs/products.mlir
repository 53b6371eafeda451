// Softmax of the rows of a product, at odd sizes.
func.func @main(%a: tensor<13x53xf32>, %b: tensor<53x29xf32>) -> tensor<13x29xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<13x29xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<13x29xf32>) -> tensor<13x29xf32>
  %p = linalg.matmul ins(%a, %b : tensor<13x53xf32>, tensor<53x29xf32>) outs(%f : tensor<13x29xf32>) -> tensor<13x29xf32>
  %r = linalg.softmax dimension(1) ins(%p : tensor<13x29xf32>) outs(%e : tensor<13x29xf32>) -> tensor<13x29xf32>
  return %r : tensor<13x29xf32>
}
