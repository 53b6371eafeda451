// A small network that reads handwritten digits: logits = relu(x · w1 + b1) · w2 + b2.
// One row of x per image (8x8 pixels scaled to 0…1); any number of images.
#row  = affine_map<(i, j) -> (i, j)>
#bias = affine_map<(i, j) -> (j)>

func.func @main(%x: tensor<?x64xf32>, %w1: tensor<64x48xf32>, %b1: tensor<48xf32>,
                %w2: tensor<48x10xf32>, %b2: tensor<10xf32>) -> tensor<?x10xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %images = tensor.dim %x, %c0 : tensor<?x64xf32>

  %e1 = tensor.empty(%images) : tensor<?x48xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x48xf32>) -> tensor<?x48xf32>
  %m1 = linalg.matmul ins(%x, %w1 : tensor<?x64xf32>, tensor<64x48xf32>) outs(%z1 : tensor<?x48xf32>) -> tensor<?x48xf32>
  %hidden = linalg.generic {indexing_maps = [#row, #bias, #row], iterator_types = ["parallel", "parallel"]}
      ins(%m1, %b1 : tensor<?x48xf32>, tensor<48xf32>) outs(%e1 : tensor<?x48xf32>) {
  ^bb0(%m: f32, %b: f32, %unused: f32):
    %s = arith.addf %m, %b : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<?x48xf32>

  %e2 = tensor.empty(%images) : tensor<?x10xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x10xf32>) -> tensor<?x10xf32>
  %m2 = linalg.matmul ins(%hidden, %w2 : tensor<?x48xf32>, tensor<48x10xf32>) outs(%z2 : tensor<?x10xf32>) -> tensor<?x10xf32>
  %logits = linalg.generic {indexing_maps = [#row, #bias, #row], iterator_types = ["parallel", "parallel"]}
      ins(%m2, %b2 : tensor<?x10xf32>, tensor<10xf32>) outs(%e2 : tensor<?x10xf32>) {
  ^bb0(%m: f32, %b: f32, %unused: f32):
    %s = arith.addf %m, %b : f32
    linalg.yield %s : f32
  } -> tensor<?x10xf32>
  return %logits : tensor<?x10xf32>
}
