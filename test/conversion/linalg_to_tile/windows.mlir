// Maps with sums of dimensions, diagonals and bodies that are no reduction.
// RUN: %tile_opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),convert-linalg-to-tile{chip=x86-64-v4},tile.kernel(canonicalize,cse))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),convert-linalg-to-tile{chip=x86-64-v4},tile.kernel(canonicalize,cse))' | FileCheck %s

// An implicit GEMM: rows are output pixels, two input pixels apart, k the channels; the window is two loops around.
// CHECK-LABEL: func.func @convolution
// CHECK-NOT: linalg.generic
// CHECK: tile.kernel private @product_0
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[ROW:.*]] = arith.addi
// CHECK: tile.view {{.*}} to !tile.view<6x5xf32, steps = [1, 5], strides = [2, 1]>
// CHECK: %[[A:.*]] = tile.load {{.*}} -> tensor<6x5xf32>
// CHECK: %[[B:.*]] = tile.load {{.*}} -> tensor<5x19xf32>
// CHECK: tile.mma %[[A]], %[[B]]
func.func @convolution(%x: tensor<2x11x23x5xf32>, %w: tensor<3x2x5x19xf32>, %o: tensor<2x5x11x19xf32>) -> tensor<2x5x11x19xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<2x11x23x5xf32>, tensor<3x2x5x19xf32>) outs(%o : tensor<2x5x11x19xf32>) -> tensor<2x5x11x19xf32>
  return %r : tensor<2x5x11x19xf32>
}

// -----

// Nothing to multiply by: the window's steps are loops, a tile is pixels × channels.
// CHECK-LABEL: func.func @pooling
// CHECK: tile.kernel private @reduction_0
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tile.load {{.*}} -> tensor<8x{{[0-9]+}}xf32>
// CHECK-NOT: tile.reduce
// CHECK: arith.maximumf {{.*}} : tensor<8x{{[0-9]+}}xf32>
func.func @pooling(%x: tensor<?x?x?x64xf32>, %w: tensor<?x?xf32>, %o: tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32> {
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<?x?x?x64xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
  return %r : tensor<?x?x?x64xf32>
}

// -----

// Products of integers, and over two dimensions, take tile.mma without packing.
// CHECK-LABEL: func.func @integers
// CHECK: tile.kernel private @product_0
// CHECK: tile.mma {{.*}} : tensor<8x128xi8>, tensor<128x32xi8> -> tensor<8x32xi32>
func.func @integers(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %o: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%o : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// -----

// A dimension on two axes of one operand is walked element by element.
// CHECK-LABEL: func.func @diagonal
// CHECK: tile.kernel private @elementwise_0
// CHECK: tile.view %{{.*}}[%[[I:.*]], %[[I]]]
func.func @diagonal(%x: tensor<7x7xf32>, %e: tensor<7xf32>) -> tensor<7xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<7x7xf32>) outs(%e : tensor<7xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<7xf32>
  return %r : tensor<7xf32>
}

// -----

// The second output reads what the first has summed so far: the body runs step by step. The third has the reduction
// dimension and is stored at each step.
// CHECK-LABEL: func.func @running
// CHECK: tile.kernel private @fold_0
// CHECK: scf.for {{.*}} -> (tensor<256xf32>, tensor<256xf32>)
// CHECK: %[[SUM:.*]] = arith.addf {{.*}} : tensor<256xf32>
// CHECK: %[[MAX:.*]] = arith.maximumf %{{.*}}, %[[SUM]]
// CHECK: tile.store %[[SUM]]
// CHECK: scf.yield %[[SUM]], %[[MAX]]
#in = affine_map<(i, j) -> (j, i)>
#out = affine_map<(i, j) -> (i)>
func.func @running(%x: tensor<?x?xf32>, %s: tensor<?xf32>, %m: tensor<?xf32>, %y: tensor<?x?xf32>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) {
  %r:3 = linalg.generic {indexing_maps = [#in, #out, #out, #in], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%s, %m, %y : tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32, %q: f32):
    %u = arith.addf %a, %o : f32
    %v = arith.maximumf %p, %u : f32
    linalg.yield %u, %v, %u : f32, f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>)
  return %r#0, %r#1, %r#2 : tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>
}

// -----

// Packing is a copy: rows of 8 elements of the plain tensor, by the tiled tensor's dimensions.
// CHECK-LABEL: func.func @pack
// CHECK: tile.launch @pack_0 {{.*}} ins(%{{.*}} : tensor<21x37xf32>) outs(%{{.*}} : tensor<3x5x8x8xf32>)
// CHECK: tile.kernel private @pack_0
// CHECK: tile.view %arg0 : memref<21x37xf32> to !tile.view<8x8xf32, steps = [1, 1]>
// CHECK: tile.store
func.func @pack(%x: tensor<21x37xf32>, %e: tensor<3x5x8x8xf32>) -> tensor<3x5x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %r = linalg.pack %x padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %e
      : tensor<21x37xf32> -> tensor<3x5x8x8xf32>
  return %r : tensor<3x5x8x8xf32>
}

// -----

// The last tile may reach beyond the last position: there element 0 is read, which is never outside.
// CHECK-LABEL: func.func @embedding
// CHECK: tile.launch @elementwise_0 {{.*}} ins(%arg1, %arg0 :
// CHECK: tile.kernel private @elementwise_0
// CHECK: %[[ROW:.*]] = arith.select {{.*}} : tensor<8x7xi1>, tensor<8x7xindex>
// CHECK: tile.gather %arg1[%[[ROW]]] bounds(trap)
func.func @embedding(%table: tensor<?xf32>, %at: tensor<?x7xindex>, %e: tensor<?x7xf32>) -> tensor<?x7xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<?x7xindex>) outs(%e : tensor<?x7xf32>) {
  ^bb0(%i: index, %o: f32):
    %v = tensor.extract %table[%i] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<?x7xf32>
  return %r : tensor<?x7xf32>
}

// -----

// Lanes keep their best; what is equal to the best is told apart by its number.
// CHECK-LABEL: func.func @argmax
// CHECK: tile.kernel private @extremum_0
// CHECK: scf.for {{.*}} -> (tensor<64xf32>, tensor<64xindex>)
// CHECK: tile.reduce {arith.maximumf}
// CHECK: tile.reduce {arith.minsi}
func.func @argmax(%x: tensor<640xf32>, %v: tensor<f32>, %i: tensor<index>) -> (tensor<f32>, tensor<index>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<640xf32>) outs(%v, %i : tensor<f32>, tensor<index>) {
  ^bb0(%a: f32, %b: f32, %w: index):
    %k = linalg.index 0 : index
    %c = arith.cmpf ogt, %a, %b : f32
    %m = arith.select %c, %a, %b : f32
    %q = arith.select %c, %k, %w : index
    linalg.yield %m, %q : f32, index
  } -> (tensor<f32>, tensor<index>)
  return %r#0, %r#1 : tensor<f32>, tensor<index>
}
