// A group whose softmax is walked along keys of which the number is known late: also none, one, and a last block that
// is not whole. Without keys the product of the weights is 0.
// RUN: %tile_run %s --size=0 --target=cpu --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --size=0 --target=emulate:sm_80 --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --size=1 --target=emulate:gfx942 --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --size=53 --target=cpu --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --size=53 --target=emulate:sm_80 --check-against=interpret | FileCheck %s
// CHECK: right, {{.*}} 0 of 703 elements wrong
func.func @main(%a0: tensor<37x24xf32>, %a1: tensor<24x?xf32>, %a2: tensor<?x19xf32>) -> tensor<37x19xf32> {
%r = tile.group ins(%a0, %a1, %a2 : tensor<37x24xf32>, tensor<24x?xf32>, tensor<?x19xf32>) schedule #tile.schedule<kind = "group", block = [16, 16, 32, 32]> -> tensor<37x19xf32> {
^bb0(%v1: tensor<37x24xf32>, %v2: tensor<24x?xf32>, %v3: tensor<?x19xf32>):
%c1 = arith.constant 1 : index
%n = tensor.dim %v2, %c1 : tensor<24x?xf32>
%v4 = tensor.empty(%n) : tensor<37x?xf32>
%v5c = arith.constant 0.0 : f32
%v5 = linalg.fill ins(%v5c : f32) outs(%v4 : tensor<37x?xf32>) -> tensor<37x?xf32>
%v6 = linalg.matmul ins(%v1, %v2 : tensor<37x24xf32>, tensor<24x?xf32>) outs(%v5 : tensor<37x?xf32>) -> tensor<37x?xf32>
%v7 = tensor.empty(%n) : tensor<37x?xf32>
%v8 = linalg.softmax dimension(1) ins(%v6 : tensor<37x?xf32>) outs(%v7 : tensor<37x?xf32>) -> tensor<37x?xf32>
%v9 = tensor.empty() : tensor<37x19xf32>
%v10c = arith.constant 0.0 : f32
%v10 = linalg.fill ins(%v10c : f32) outs(%v9 : tensor<37x19xf32>) -> tensor<37x19xf32>
%v11 = linalg.matmul ins(%v8, %v3 : tensor<37x?xf32>, tensor<?x19xf32>) outs(%v10 : tensor<37x19xf32>) -> tensor<37x19xf32>
tile.yield %v11 : tensor<37x19xf32>
}
return %r : tensor<37x19xf32>
}
