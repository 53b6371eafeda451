// Packs and unpacks by tiles whose sizes only the run knows, permuted, and padded by a number that is not 0.
// RUN: %tile_run %s --size=5 --seed=3 --target=cpu --target=emulate:sm_80 --target=emulate:gfx942 --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --size=16 --seed=3 --target=cpu --target=emulate:sm_80 --check-against=interpret | FileCheck %s
// RUN: %tile_run %s --entry=fixed --seed=3 --target=cpu --target=emulate:sm_80 --check-against=interpret | FileCheck %s
// CHECK: result 0: right
// CHECK-NEXT: result 1: right
// CHECK-NEXT: {{.*}}result 0: right
// CHECK-NEXT: {{.*}}result 1: right
func.func @main(%a: tensor<7x13xf32>, %k: tensor<?xf32>) -> (tensor<?x7x?x4xf32>, tensor<7x13xf32>) {
  %c0 = arith.constant 0 : index
  %c13 = arith.constant 13 : index
  %pad = arith.constant -1.5 : f32
  %t = tensor.dim %k, %c0 : tensor<?xf32>
  %n = arith.ceildivui %c13, %t : index
  %d = tensor.empty(%n, %t) : tensor<?x2x?x4xf32>
  %p = linalg.pack %a padding_value(%pad : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [%t, 4]
    into %d : tensor<7x13xf32> -> tensor<?x2x?x4xf32>
  %e = tensor.empty() : tensor<7x13xf32>
  %u = linalg.unpack %p outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [%t, 4]
    into %e : tensor<?x2x?x4xf32> -> tensor<7x13xf32>
  %r = tensor.empty(%n, %t) : tensor<?x7x?x4xf32>
  %z = linalg.fill ins(%pad : f32) outs(%r : tensor<?x7x?x4xf32>) -> tensor<?x7x?x4xf32>
  %i = tensor.insert_slice %p into %z[0, 0, 0, 0] [%n, 2, %t, 4] [1, 1, 1, 1] : tensor<?x2x?x4xf32> into tensor<?x7x?x4xf32>
  return %i, %u : tensor<?x7x?x4xf32>, tensor<7x13xf32>
}
func.func @fixed(%a: tensor<7x13xi32>, %b: tensor<5xf32>) -> (tensor<4x2x4x4xi32>, tensor<3x2xf32>) {
  %pad = arith.constant 77 : i32
  %low = arith.constant -0.0 : f32
  %d = tensor.empty() : tensor<4x2x4x4xi32>
  %p = linalg.pack %a padding_value(%pad : i32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 4]
    into %d : tensor<7x13xi32> -> tensor<4x2x4x4xi32>
  %e = tensor.empty() : tensor<3x2xf32>
  %q = linalg.pack %b padding_value(%low : f32) inner_dims_pos = [0] inner_tiles = [2]
    into %e : tensor<5xf32> -> tensor<3x2xf32>
  return %p, %q : tensor<4x2x4x4xi32>, tensor<3x2xf32>
}
