// What is known of a tensor, on ops and arguments, beside any way of storing it.
// RUN: %tile_opt %s | %tile_opt | FileCheck %s
// RUN: %mlir_opt_plugin %s | FileCheck %s
// RUN: %tile_opt %s --tile-to-cpu-pipeline -o /dev/null

// CHECK-LABEL: func.func @known
// CHECK-SAME: {sparse.attribute = #sparse.attribute<grain = [1, 4], dead = dense<true> : tensor<3x1xi1>>}
// CHECK: tensor.empty() {sparse.attribute = #sparse.attribute<grain = [2, 2], zero = dense<{{\[\[}}true, false], [false, true]]> : tensor<2x2xi1>, bits = dense<[{{\[}}1, 4], [8, 8]]> : tensor<2x2xi8>>} : tensor<3x4xi32>
// CHECK: sparse.pack %{{.*}} {sparse.attribute = #sparse.attribute<grain = [8, 8], zero = dense<true> : tensor<1x1xi1>>}
func.func @known(%a: tensor<3x4xf32> {sparse.attribute = #sparse.attribute<dead = dense<true> : tensor<3x1xi1>, grain = [1, 4]>}) -> (tensor<3x4xf32, #sparse.csr>, tensor<3x4xi32>) {
  %b = tensor.empty() {sparse.attribute = #sparse.attribute<grain = [2, 2], zero = dense<[[true, false], [false, true]]> : tensor<2x2xi1>, bits = dense<[[1, 4], [8, 8]]> : tensor<2x2xi8>>} : tensor<3x4xi32>
  %c = sparse.pack %a {sparse.attribute = #sparse.attribute<grain = [8, 8], zero = dense<true> : tensor<1x1xi1>>} : tensor<3x4xf32> -> tensor<3x4xf32, #sparse.csr>
  return %c, %b : tensor<3x4xf32, #sparse.csr>, tensor<3x4xi32>
}

// Along an open axis nothing is compared.
// CHECK-LABEL: func.func @open
func.func @open(%n: index) -> tensor<?x4xf32> {
  %b = tensor.empty(%n) {sparse.attribute = #sparse.attribute<grain = [2, 4], zero = dense<true> : tensor<9x1xi1>>} : tensor<?x4xf32>
  return %b : tensor<?x4xf32>
}
