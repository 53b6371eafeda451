// A product whose left factor a mask makes zero becomes a masked product with micro-tiles; other selects stay.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(sparse-find-masks{chip=x86-64-v4}))' | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(sparse-find-masks{chip=znver5}))' | FileCheck %s --check-prefixes=CHECK,ZEN
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(sparse-find-masks{chip=sm_80}))' | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(sparse-find-masks{chip=x86-64-v4 sparsity=off}))' | FileCheck %s --check-prefix=STAYS

// STAYS-NOT: sparse.

#id = affine_map<(i, k) -> (i, k)>
#tiles = affine_map<(i, k) -> (i floordiv 32, k)>
#turned = affine_map<(i, k) -> (k, i)>

// A mask with an element for each: 32 lines of the mask make a micro-tile.
// CHECK-LABEL: func.func @elements
// CHECK: %[[S:.*]] = linalg.generic
// CHECK: %[[A:.*]] = sparse.assemble(%{{.*}}, %[[S]]) sizes [{{.*}}] : tensor<?x48xi1>, tensor<?x48xf32> -> tensor<?x48xf32, #sparse.mask<tile = [1, 1]>>
// CPU: sparse.spmm %[[A]], %arg2, %arg3 {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 32, dense_above = 80, entry_cost = 300>}
// GPU: sparse.spmm %[[A]], %arg2, %arg3 {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 32, dense_above = 80>}
func.func @elements(%m: tensor<96x48xi1>, %x: tensor<?x48xf32>, %b: tensor<48x64xf32>, %c: tensor<?x64xf32>, %e: tensor<?x48xf32>) -> tensor<?x64xf32> {
  %z = arith.constant -0.0 : f32
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %x : tensor<96x48xi1>, tensor<?x48xf32>) outs(%e : tensor<?x48xf32>) {
  ^bb0(%p: i1, %v: f32, %o: f32):
    %r = arith.select %p, %v, %z : f32
    linalg.yield %r : f32
  } -> tensor<?x48xf32>
  %r = linalg.matmul ins(%s, %b : tensor<?x48xf32>, tensor<48x64xf32>) outs(%c : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// A mask of tiles, the right factor transposed, zeros as a tensor.
// CHECK-LABEL: func.func @tiles
// CHECK: sparse.assemble(%arg0, %{{.*}}) : tensor<2x48xi1>, tensor<64x48xi32> -> tensor<64x48xi32, #sparse.mask<tile = [32, 1]>>
// CHECK: sparse.spmm %{{.*}}, %arg2 transpose, %arg3 {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 32, dense_above = 80>}
func.func @tiles(%m: tensor<2x48xi1>, %x: tensor<64x48xi32>, %b: tensor<64x48xi32>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %z = arith.constant dense<0> : tensor<64x48xi32>
  %e = tensor.empty() : tensor<64x48xi32>
  %s = linalg.generic {indexing_maps = [#tiles, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %x, %z : tensor<2x48xi1>, tensor<64x48xi32>, tensor<64x48xi32>) outs(%e : tensor<64x48xi32>) {
  ^bb0(%p: i1, %v: i32, %n: i32, %o: i32):
    %r = arith.select %p, %v, %n : i32
    linalg.yield %r : i32
  } -> tensor<64x48xi32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%s, %b : tensor<64x48xi32>, tensor<64x48xi32>) outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}

// What the mask hides becomes one; what it shows becomes zero; a mask that is turned; few columns; a comparison.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: sparse.
func.func @stays(%m: tensor<64x64xi1>, %x: tensor<64x64xf32>, %b: tensor<64x64xf32>, %f: tensor<64x8xf32>, %c: tensor<64x64xf32>, %d: tensor<64x8xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x8xf32>) {
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %s0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %x : tensor<64x64xi1>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: i1, %v: f32, %o: f32):
    %r = arith.select %p, %v, %one : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %r0 = linalg.matmul ins(%s0, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %x : tensor<64x64xi1>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: i1, %v: f32, %o: f32):
    %r = arith.select %p, %z, %v : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %r1 = linalg.matmul ins(%s1, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s2 = linalg.generic {indexing_maps = [#turned, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %x : tensor<64x64xi1>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: i1, %v: f32, %o: f32):
    %r = arith.select %p, %v, %z : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %r2 = linalg.matmul ins(%s2, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s3 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %x : tensor<64x64xi1>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: i1, %v: f32, %o: f32):
    %r = arith.select %p, %v, %z : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %r3 = linalg.matmul ins(%s3, %f : tensor<64x64xf32>, tensor<64x8xf32>) outs(%d : tensor<64x8xf32>) -> tensor<64x8xf32>
  return %r0, %r1, %r2, %r3 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x8xf32>
}

// Tiles of 8 lines: a GPU takes four of them together, as its matrix instructions have more rows.
// CHECK-LABEL: func.func @low
// GPU: sparse.micro_tiles<axis = 1, by = 1, lines = 32, dense_above = 80>
func.func @low(%m: tensor<8x64xi1>, %x: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i floordiv 8, k)>, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %x : tensor<8x64xi1>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: i1, %v: f32, %o: f32):
    %r = arith.select %p, %v, %z : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %r = linalg.matmul ins(%s, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// Halves that are summed up in f32: on CPUs, where the dense product by a dot instruction is cheaper.
// CHECK-LABEL: func.func @halves
// CPU: sparse.spmm {{.*}} {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 32, dense_above = 80, entry_cost = 300>} : tensor<64x64xbf16
// ZEN: sparse.spmm {{.*}} {sparse.micro_tiles = #sparse.micro_tiles<axis = 1, by = 1, lines = 32, dense_above = 40, entry_cost = 600>} : tensor<64x64xbf16
// GPU-NOT: sparse.
// GPU: return
func.func @halves(%m: tensor<64x64xi1>, %x: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<64x64xbf16>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %x : tensor<64x64xi1>, tensor<64x64xbf16>) outs(%e : tensor<64x64xbf16>) {
  ^bb0(%p: i1, %v: bf16, %o: bf16):
    %r = arith.select %p, %v, %z : bf16
    linalg.yield %r : bf16
  } -> tensor<64x64xbf16>
  %r = linalg.matmul ins(%s, %b : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
