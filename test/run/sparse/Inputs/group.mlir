// Three groups.
func.func @main(%ids: tensor<3xi64>) -> tensor<4xi32> {
  %p, %c = sparse.group %ids : tensor<3xi64> -> tensor<4xi32>, tensor<3xi32>
  return %p : tensor<4xi32>
}
