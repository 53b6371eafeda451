// A product whose left factor a mask makes zero that is known only when the program runs. The compiler finds the select
// (sparse-find-masks); the program gathers what the mask shows, or runs densely, by what it counts.
#elements = affine_map<(i, k) -> (i, k)>

func.func @main(%mask: tensor<512x512xi1>, %x: tensor<512x512xf32>, %w: tensor<512x64xf32>) -> tensor<512x64xf32> {
  %zero = arith.constant 0.0 : f32
  %matrix = tensor.empty() : tensor<512x512xf32>
  %shown = linalg.generic {indexing_maps = [#elements, #elements, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%mask, %x : tensor<512x512xi1>, tensor<512x512xf32>) outs(%matrix : tensor<512x512xf32>) {
  ^bb0(%stays: i1, %value: f32, %unused: f32):
    %y = arith.select %stays, %value, %zero : f32
    linalg.yield %y : f32
  } -> tensor<512x512xf32>
  %empty = tensor.empty() : tensor<512x64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x64xf32>) -> tensor<512x64xf32>
  %product = linalg.matmul ins(%shown, %w : tensor<512x512xf32>, tensor<512x64xf32>)
      outs(%start : tensor<512x64xf32>) -> tensor<512x64xf32>
  return %product : tensor<512x64xf32>
}
