// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4 ops=products},tile-split-reductions{chip=x86-64-v4}),tile-group-ops{chip=x86-64-v4},convert-linalg-to-tile{chip=x86-64-v4},tile.kernel(canonicalize,cse),func.func(canonicalize))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4 ops=products},tile-split-reductions{chip=x86-64-v4}),tile-group-ops{chip=x86-64-v4},convert-linalg-to-tile{chip=x86-64-v4},tile.kernel(canonicalize,cse),func.func(canonicalize))' | FileCheck %s

// Elementwise: a program per tile of 8 × 256; a row vector is loaded once and spread.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @elementwise
// CHECK: tile.launch @elementwise_0 grid(%{{.*}}, %{{.*}}) ins(%{{.*}}, %{{.*}} : tensor<?x?xf32>, tensor<?xf32>) outs(%{{.*}} : tensor<?x?xf32>) {tile.overwrites = [0]}
// CHECK-NOT: linalg
// CHECK: tile.kernel private @elementwise_0(%{{.*}}: memref<?x?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: memref<?x?xf32>)
// CHECK: tile.load {{.*}} -> tensor<8x256xf32>
// CHECK: tile.load {{.*}} -> tensor<256xf32>
// CHECK: tile.broadcast {{.*}} axes [0]
// CHECK: arith.addf {{.*}} : tensor<8x256xf32>
// CHECK: tile.store
func.func @elementwise(%x: tensor<?x?xf32>, %b: tensor<?xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %v = arith.addf %a, %c : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// A reduction that starts from a constant never reads the fill; past the end counts as the sum's neutral element.
#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func.func @reduction
// CHECK-NOT: linalg
// CHECK: tile.launch @reduction_0 {{.*}} outs(%{{.*}} : tensor<?xf32>)
// CHECK: tile.kernel private @reduction_0
// CHECK: scf.for {{.*}} iter_args({{.*}} = %{{.*}}) -> (tensor<8xf32>)
// CHECK: tile.view {{.*}} pad = neg_zero
// CHECK: tile.reduce {arith.addf} {{.*}} axes [1]
func.func @reduction(%x: tensor<?x?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %z = arith.constant 0.0 : f32
  %f = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%z : f32) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// A product and the activation after it are one kernel: pack, multiply, then the epilogue in the last block of k.
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @product
// CHECK-COUNT-1: tile.launch @matmul_0
// CHECK-NOT: tile.launch
// CHECK: tile.kernel private @matmul_0
// CHECK: tile.copy
// CHECK: tile.copy
// CHECK: tile.mma
// CHECK: scf.if
// CHECK: arith.maximumf
// CHECK: tile.store
func.func @product(%x: tensor<64x1024xf32>, %w: tensor<1024x1024xf32>, %e: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %z = arith.constant 0.0 : f32
  %f = linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%z : f32) outs(%e : tensor<64x1024xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<64x1024xf32>
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x1024xf32>, tensor<1024x1024xf32>) outs(%f : tensor<64x1024xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %q : f32
    %v = arith.addf %o, %s : f32
    linalg.yield %v : f32
  } -> tensor<64x1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<64x1024xf32>) outs(%e : tensor<64x1024xf32>) {
  ^bb0(%p: f32, %o: f32):
    %v = arith.maximumf %p, %z : f32
    linalg.yield %v : f32
  } -> tensor<64x1024xf32>
  return %r : tensor<64x1024xf32>
}

// -----

// Rows of 100 fit a tile: softmax reads them once.
// CHECK-LABEL: func.func @softmax
// CHECK: tile.launch @softmax_0
// CHECK: tile.kernel private @softmax_0
// CHECK-COUNT-1: tile.load
// CHECK: tile.reduce {arith.maximumf}
// CHECK: math.exp
// CHECK: tile.reduce {arith.addf}
func.func @softmax(%x: tensor<7x100xf32>, %e: tensor<7x100xf32>) -> tensor<7x100xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<7x100xf32>) outs(%e : tensor<7x100xf32>) -> tensor<7x100xf32>
  return %r : tensor<7x100xf32>
}

// -----

// A product whose element types no tile.mma takes is a reduction.
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: func.func @mixed_product
// CHECK: tile.launch @reduction_0
func.func @mixed_product(%x: tensor<8x8xf16>, %w: tensor<8x8xf32>, %e: tensor<8x8xf64>) -> tensor<8x8xf64> {
  %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x8xf16>, tensor<8x8xf32>) outs(%e : tensor<8x8xf64>) {
  ^bb0(%p: f16, %q: f32, %o: f64):
    %p64 = arith.extf %p : f16 to f64
    %q64 = arith.extf %q : f32 to f64
    %s = arith.mulf %p64, %q64 : f64
    %v = arith.addf %o, %s : f64
    linalg.yield %v : f64
  } -> tensor<8x8xf64>
  return %m : tensor<8x8xf64>
}

// -----

// Few rows: B is streamed past rows of C that stay in L1, six rows of it at most at once (half the ways of L1). It is
// larger than all caches: eight cores share its rows, whole ones, and what they sum up is added up.
// CHECK-LABEL: func.func @row_times_matrix
// CHECK: %[[PARTS:.*]] = tile.launch @matmul_0 grid(%c1{{[_0-9]*}}, %c1{{[_0-9]*}}, %c8{{[_0-9]*}}) {{.*}} -> tensor<8x1x4096xf32>
// CHECK: tile.launch @reduction_0 grid({{.*}}) ins(%[[PARTS]] :
// CHECK: tile.kernel private @matmul_0
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args({{.*}}) -> (tensor<1x4096xf32>)
// CHECK: tile.load {{.*}} -> tensor<4x4096xf32>
// CHECK: tile.mma {{.*}} : tensor<1x4xf32>, tensor<4x4096xf32> -> tensor<1x4096xf32>
// CHECK: tile.store %[[SUM]]
func.func @row_times_matrix(%a: tensor<1x4096xf32>, %b: tensor<4096x4096xf32>, %e: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1x4096xf32>, tensor<4096x4096xf32>) outs(%z : tensor<1x4096xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x4096xf32>
  return %c : tensor<1x4096xf32>
}

// -----

// What is the same for a whole row is computed once a row and spread then.
#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func.func @scale
// CHECK: tile.kernel private @elementwise_0
// CHECK: %[[SUM:.*]] = tile.load {{.*}} -> tensor<8xf32>
// CHECK: %[[MEAN:.*]] = arith.divf %[[SUM]], %{{.*}} : tensor<8xf32>
// CHECK: %[[SCALE:.*]] = math.rsqrt %[[MEAN]] : tensor<8xf32>
// CHECK: %[[WIDE:.*]] = tile.broadcast %[[SCALE]] axes [1] : tensor<8xf32> -> tensor<8x256xf32>
// CHECK: arith.mulf %{{.*}}, %[[WIDE]] : tensor<8x256xf32>
func.func @scale(%x: tensor<?x?xf32>, %s: tensor<?xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %sum: f32, %o: f32):
    %width = arith.constant 768.0 : f32
    %mean = arith.divf %sum, %width : f32
    %scale = math.rsqrt %mean : f32
    %y = arith.mulf %a, %scale : f32
    linalg.yield %y : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// What an output held is read where it takes part, and where not all of it is written: neither is overwritten.
// CHECK-LABEL: func.func @keeps_what_it_held
// CHECK: tile.launch {{.*}} -> tensor<5xf32>
// CHECK-NOT: tile.overwrites
// CHECK: return
func.func @keeps_what_it_held(%x: tensor<5xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<5xf32>) outs(%y : tensor<5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.addf %a, %o : f32
    linalg.yield %v : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}
