// Sizes known late: kernels for buckets, chosen at run time, epilogues with them; nothing where one tile is the best for all.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,canonicalize,tile-specialize-sizes{chip=sm_80}))' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,canonicalize,tile-specialize-sizes{chip=sm_80},tile-construct-tiles{chip=sm_80}))' | FileCheck %s --check-prefix=TILES
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),tile-group-ops{ops=elementwise},func.func(canonicalize,tile-specialize-sizes{chip=sm_80 buckets=16,4096}),tile-group-ops{chip=sm_80},convert-linalg-to-tile{chip=sm_80})' | FileCheck %s --check-prefix=FUSED
// RUN: %python %source/test/run/check.py %tile_run %s --target=emulate:sm_80 --pass-pipeline='builtin.module(tile-to-nvvm-pipeline{chip=sm_80 buckets=16,64,256})'
// RUN: %python %source/test/run/check.py %tile_run %s --pass-pipeline='builtin.module(tile-to-cpu-pipeline{buckets=4,64,256})'
// in: normal(1, 256).astype(f16), normal(256, 96).astype(f16), normal(96), normal(3, 5)
// in: normal(17, 256).astype(f16), normal(256, 96).astype(f16), normal(96), normal(3, 5)
// in: normal(300, 256).astype(f16), normal(256, 96).astype(f16), normal(96), normal(0, 0)
// expect: np.maximum(x0.astype(f64) @ x1.astype(f64) + x2, 0)
// expect: x3 + x3
// tolerance: 1e-3
// RUN: not %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-specialize-sizes{buckets=16,4}))' 2>&1 | FileCheck %s --check-prefix=FALLING
// RUN: not %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-specialize-sizes{buckets=16}))' 2>&1 | FileCheck %s --check-prefix=ONE
// FALLING: error: {{.*}}cannot read buckets '16,4', expected two to 8 rising sizes: 16,256,4096
// ONE: error: {{.*}}cannot choose between buckets '16', expected two at least

// CHECK-LABEL: func.func @main
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : f32)
// CHECK-NOT: tile.extents
// CHECK: %[[ROWS:.*]] = tensor.dim %{{.*}}, %c0
// CHECK: %[[SMALL:.*]] = arith.cmpi ule, %[[ROWS]], %c16
// CHECK: scf.if %[[SMALL]] -> (tensor<?x96xf32>) {
// CHECK: linalg.generic {{.*}}tile.extents = array<i64: 16, 96, 256>
// CHECK: linalg.generic
// CHECK: } else {
// CHECK: arith.cmpi ule, %[[ROWS]], %c256
// CHECK: linalg.generic {{.*}}tile.extents = array<i64: 256, 96, 256>
// CHECK: linalg.generic {{.*}}tile.extents = array<i64: 4096, 96, 256>
// Two sizes: columns matter where rows are many.
// CHECK: linalg.generic {{.*}}tile.extents = array<i64: 16, 4096>
// CHECK: linalg.generic {{.*}}tile.extents = array<i64: 256, 4096>
// CHECK: linalg.generic {{.*}}tile.extents = array<i64: 4096, 16>
// CHECK: linalg.generic {{.*}}tile.extents = array<i64: 4096, 4096>
// CHECK-LABEL: func.func @one
// CHECK-NOT: scf.if

// Each bucket has a tile of its own.
// TILES: #[[FEW:.*]] = #tile.schedule<kind = "product", block = [16, {{[0-9]+, [0-9]+}}], warps = [1,
// TILES: #[[MANY:.*]] = #tile.schedule<kind = "product", block = [{{32|64|128}}, {{[0-9]+, [0-9]+}}], warps = [{{[24]}},
// TILES: tile.extents = array<i64: 16, 96, 256>, tile.schedule = #[[FEW]]
// TILES: tile.extents = array<i64: 4096, 96, 256>, tile.schedule = #[[MANY]]

// Bias and activation are in the product's kernels.
// FUSED-LABEL: func.func @main
// FUSED: scf.if
// FUSED: tile.launch @matmul_{{[01]}}
// FUSED-NOT: tile.launch
// FUSED: } else {
// FUSED: tile.launch @matmul_{{[01]}}
// FUSED-NOT: tile.launch
// FUSED: scf.yield
func.func @main(%a: tensor<?x256xf16>, %b: tensor<256x96xf16>, %bias: tensor<96xf32>, %t: tensor<?x?xf32>) -> (tensor<?x96xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x256xf16>
  %e = tensor.empty(%m) : tensor<?x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x96xf32>) -> tensor<?x96xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x256xf16>, tensor<256x96xf16>) outs(%f : tensor<?x96xf32>) -> tensor<?x96xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<?x96xf32>, tensor<96xf32>) outs(%e : tensor<?x96xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %v = arith.maximumf %s, %zero : f32
    linalg.yield %v : f32
  } -> tensor<?x96xf32>
  %h = tensor.dim %t, %c0 : tensor<?x?xf32>
  %w = tensor.dim %t, %c1 : tensor<?x?xf32>
  %o = tensor.empty(%h, %w) : tensor<?x?xf32>
  %d = linalg.add ins(%t, %t : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r, %d : tensor<?x96xf32>, tensor<?x?xf32>
}

func.func @one(%t: tensor<?x65536xf32>) -> tensor<?x65536xf32> {
  %c0 = arith.constant 0 : index
  %h = tensor.dim %t, %c0 : tensor<?x65536xf32>
  %o = tensor.empty(%h) : tensor<?x65536xf32>
  %d = linalg.add ins(%t, %t : tensor<?x65536xf32>, tensor<?x65536xf32>) outs(%o : tensor<?x65536xf32>) -> tensor<?x65536xf32>
  return %d : tensor<?x65536xf32>
}
