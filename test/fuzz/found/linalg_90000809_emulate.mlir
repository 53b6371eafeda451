// Program 90000809 of the fuzzer and its sibling: one op folds a dimension that another op of the group has and the kernel walks.
// The place of the inner loop was used behind it, and inside it a tile of the outer one.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s | FileCheck %s
// CHECK-COUNT-3: right
// RUN: %tile_opt %s --tile-to-nvvm-pipeline=chip=sm_80 | FileCheck %s --check-prefix=GROUP
// GROUP: @tessera_kernel_group_0
// in: normal i32 61 7
func.func @main(%x: tensor<?xi32>) -> (tensor<33xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %r:2 = tile.group ins(%x, %n : tensor<?xi32>, index) meets [shared, shared, shared, shared, shared] schedule #tile.schedule<kind = "group", block = [8, 8], warps = [4]> -> tensor<33xi32>, tensor<?xi32> {
  ^bb0(%a: tensor<?xi32>, %m: index):
    %e = tensor.empty(%m) : tensor<?xi32>
    %twice = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]} ins(%a : tensor<?xi32>) outs(%e : tensor<?xi32>) {
    ^bb0(%in: i32, %out: i32):
      %s = arith.addi %in, %in : i32
      linalg.yield %s : i32
    } -> tensor<?xi32>
    %empty = tensor.empty() : tensor<33xi32>
    %most = arith.constant 2147483647 : i32
    %minus = linalg.fill ins(%most : i32) outs(%empty : tensor<33xi32>) -> tensor<33xi32>
    %least = linalg.generic {indexing_maps = [affine_map<(d, f) -> (d)>, affine_map<(d, f) -> (f)>], iterator_types = ["reduction", "parallel"]} ins(%twice : tensor<?xi32>) outs(%minus : tensor<33xi32>) {
    ^bb0(%in: i32, %out: i32):
      %s = arith.minsi %in, %out : i32
      linalg.yield %s : i32
    } -> tensor<33xi32>
    %c3 = arith.constant 3 : i32
    %start = linalg.fill ins(%c3 : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
    %all = linalg.generic {indexing_maps = [affine_map<(d, f) -> (d)>, affine_map<(d, f) -> (f)>, affine_map<(d, f) -> (d)>], iterator_types = ["parallel", "reduction"]} ins(%twice, %least : tensor<?xi32>, tensor<33xi32>) outs(%start : tensor<?xi32>) {
    ^bb0(%in: i32, %l: i32, %out: i32):
      %y = arith.subi %in, %l : i32
      %s = arith.addi %y, %out : i32
      linalg.yield %s : i32
    } -> tensor<?xi32>
    tile.yield %least, %all : tensor<33xi32>, tensor<?xi32>
  }
  return %r#0, %r#1 : tensor<33xi32>, tensor<?xi32>
}
