// Programs in groups compute what programs in order do: groups that end within the rows of tiles, sizes that are known and
// that are not, batches, empty products.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(convert-linalg-to-tile{chip=sm_80})' | FileCheck %s
// RUN: %python %source/test/run/check.py %tile_run %s --target=emulate:sm_80
// RUN: %python %source/test/run/check.py %tile_run %s --target=emulate:gfx942
// in: normal(2, 100, 40).astype(f16), normal(2, 40, 90).astype(f16), normal(100, 40).astype(f16), normal(40, 90).astype(f16)
// in: normal(2, 100, 40).astype(f16), normal(2, 40, 90).astype(f16), normal(33, 7).astype(f16), normal(7, 170).astype(f16)
// in: normal(2, 100, 40).astype(f16), normal(2, 40, 90).astype(f16), normal(0, 7).astype(f16), normal(7, 5).astype(f16)
// expect: x0.astype(f64) @ x1.astype(f64)
// expect: x2.astype(f64) @ x3.astype(f64)
// tolerance: 1e-4

// 7 x 3 tiles of each of two matrices: the third group has one row of tiles.
// CHECK-LABEL: func.func @main
// CHECK: tile.launch @matmul_{{[01]}} grid(%{{[^,)]*}})
// CHECK: tile.launch @matmul_{{[01]}} grid(%{{[^,)]*}})
// CHECK: tile.kernel private @matmul_1
// CHECK: %[[ID:.*]] = tile.program_id 0
// CHECK-NOT: tile.program_id
// CHECK: %[[ALL:.*]] = arith.remui %[[ID]], %{{.*}} : index
// CHECK: arith.minsi
func.func @main(%a: tensor<2x100x40xf16>, %b: tensor<2x40x90xf16>, %x: tensor<?x?xf16>, %y: tensor<?x?xf16>) -> (tensor<2x100x90xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x100x90xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x100x90xf32>) -> tensor<2x100x90xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x100x40xf16>, tensor<2x40x90xf16>) outs(%f : tensor<2x100x90xf32>) attrs = {tile.schedule = #tile.schedule<block = [1, 16, 32, 16], warps = [1, 1, 1], stages = 2, group = [3]>} {
  ^bb0(%u: f16, %v: f16, %s: f32):
    %u32 = arith.extf %u : f16 to f32
    %v32 = arith.extf %v : f16 to f32
    %m = arith.mulf %u32, %v32 : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<2x100x90xf32>
  %rows = tensor.dim %x, %c0 : tensor<?x?xf16>
  %columns = tensor.dim %y, %c1 : tensor<?x?xf16>
  %e2 = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x?xf16>, tensor<?x?xf16>) outs(%f2 : tensor<?x?xf32>) attrs = {tile.schedule = #tile.schedule<block = [16, 32, 16], warps = [1, 1, 1], stages = 2, group = [4]>} {
  ^bb0(%u: f16, %v: f16, %s: f32):
    %u32 = arith.extf %u : f16 to f32
    %v32 = arith.extf %v : f16 to f32
    %m = arith.mulf %u32, %v32 : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %p, %q : tensor<2x100x90xf32>, tensor<?x?xf32>
}
