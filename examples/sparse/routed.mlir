// A layer of experts: the number of a token says which matrix its row is multiplied by. The compiler lists the tokens of
// each expert and multiplies group by group (sparse-group-rows).
#row = affine_map<(t, n, k) -> (t, k)>
#token = affine_map<(t, n, k) -> (t)>
#result = affine_map<(t, n, k) -> (t, n)>

func.func @main(%x: tensor<200x96xf32>, %experts: tensor<8x96x128xf32>, %chosen: tensor<200xi64>) -> tensor<200x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<200x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<200x128xf32>) -> tensor<200x128xf32>
  %y = linalg.generic {indexing_maps = [#row, #token, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %chosen : tensor<200x96xf32>, tensor<200xi64>) outs(%start : tensor<200x128xf32>) {
  ^bb0(%a: f32, %number: i64, %sum: f32):
    %expert = arith.index_cast %number : i64 to index
    %n = linalg.index 1 : index
    %k = linalg.index 2 : index
    %b = tensor.extract %experts[%expert, %k, %n] : tensor<8x96x128xf32>
    %term = arith.mulf %a, %b : f32
    %more = arith.addf %sum, %term : f32
    linalg.yield %more : f32
  } -> tensor<200x128xf32>
  return %y : tensor<200x128xf32>
}
