// Elementwise ops around launches are nodes of their kernels, where these say where: one copy is made for all of them.
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(convert-sparse-to-tile,func.func(linalg-generalize-named-ops),tile-group-ops{ops=elementwise},func.func(canonicalize,cse),tile-group-ops,convert-linalg-to-tile,func.func(canonicalize,cse),tile.kernel(canonicalize,cse))' | FileCheck %s

// The fill, a bias of each column, relu and clip: in the product's kernel. The scalar comes along.
// CHECK-LABEL: func.func @layer(
// CHECK-SAME: %[[LOW:[a-z0-9]*]]: f32)
// CHECK-NOT: linalg
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: tile.launch @spmm_csr{{.*}} ins({{.*}}, %[[LOW]]{{.*}}) outs(%[[E]] :
// CHECK-NOT: tile.launch
// CHECK-LABEL: tile.kernel private @spmm_csr
// CHECK-NOT: tile.initial
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: arith.minimumf
// CHECK: tile.store {{.*}} {tile.final}
// CHECK-NOT: tile.kernel private
#row = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @layer(%p: tensor<9xi32>, %c: tensor<?xi32>, %v: tensor<?xf32>, %x: tensor<5x33xf32>, %b: tensor<33xf32>, %low: f32) -> tensor<8x33xf32> {
  %zero = arith.constant 0.0 : f32
  %most = arith.constant 32.0 : f32
  %w = sparse.assemble(%p, %c, %v) : tensor<9xi32>, tensor<?xi32>, tensor<?xf32> -> tensor<8x5xf32, #sparse.csr>
  %e = tensor.empty() : tensor<8x33xf32>
  %start = linalg.fill ins(%low : f32) outs(%e : tensor<8x33xf32>) -> tensor<8x33xf32>
  %s = sparse.spmm %w, %x, %start : tensor<8x5xf32, #sparse.csr>, tensor<5x33xf32>, tensor<8x33xf32>
  %o = tensor.empty() : tensor<8x33xf32>
  %r = linalg.generic {indexing_maps = [#row, #column, #row], iterator_types = ["parallel", "parallel"]}
      ins(%s, %b : tensor<8x33xf32>, tensor<33xf32>) outs(%o : tensor<8x33xf32>) {
  ^bb0(%a: f32, %d: f32, %u: f32):
    %0 = arith.addf %a, %d : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<8x33xf32>
  %z = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]} outs(%r : tensor<8x33xf32>) {
  ^bb0(%a: f32):
    %0 = arith.minimumf %a, %most : f32
    linalg.yield %0 : f32
  } -> tensor<8x33xf32>
  return %z : tensor<8x33xf32>
}

// -----

// Somebody's own kernel, of rank 1: public, it stays.
// CHECK-LABEL: tile.kernel @twice(
// CHECK: tile.kernel private @twice_with_0(
// CHECK: math.absf
// CHECK-LABEL: func.func @own(
// CHECK-COUNT-1: tile.launch
// CHECK-NOT: tile.launch
// CHECK: return
tile.kernel @twice(%x: memref<?xf32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<16xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<16xf32>
  %a = tile.load %X[%i] : !tile.view<16xf32> -> tensor<16xf32>
  %b = arith.addf %a, %a : tensor<16xf32>
  tile.store %b, %Y[%i] {tile.final} : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}
#i = affine_map<(i) -> (i)>
func.func @own(%x: tensor<40xf32>) -> tensor<40xf32> {
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<40xf32>
  %y = tile.launch @twice grid(%c3) ins(%x : tensor<40xf32>) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  %z = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%y : tensor<40xf32>) outs(%e : tensor<40xf32>) {
  ^bb0(%a: f32, %u: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<40xf32>
  return %z : tensor<40xf32>
}

// -----

// No: a store that is not marked; a result that somebody else takes; one that is turned around.
// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-6: tile.launch
// CHECK-NOT: tile.launch
// CHECK: return
tile.kernel private @plain(%x: memref<?xf32>, %y: memref<?xf32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?xf32> to !tile.view<16xf32>
  %Y = tile.view %y : memref<?xf32> to !tile.view<16xf32>
  %a = tile.load %X[%i] : !tile.view<16xf32> -> tensor<16xf32>
  tile.store %a, %Y[%i] : tensor<16xf32>, !tile.view<16xf32>
  tile.return
}
tile.kernel private @marked(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %i = tile.program_id 0
  %X = tile.view %x : memref<?x?xf32> to !tile.view<8x8xf32>
  %Y = tile.view %y : memref<?x?xf32> to !tile.view<8x8xf32>
  %a = tile.load %X[%i, %i] : !tile.view<8x8xf32> -> tensor<8x8xf32>
  tile.store %a, %Y[%i, %i] {tile.final} : tensor<8x8xf32>, !tile.view<8x8xf32>
  tile.return
}
#i = affine_map<(i) -> (i)>
#row = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @apart(%x: tensor<40xf32>, %s: tensor<8x8xf32>) -> (tensor<40xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %c3 = arith.constant 3 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<40xf32>
  %f = tensor.empty() : tensor<8x8xf32>
  %y = tile.launch @plain grid(%c3) ins(%x : tensor<40xf32>) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  %z = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%y : tensor<40xf32>) outs(%e : tensor<40xf32>) {
  ^bb0(%a: f32, %u: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<40xf32>
  %m = tile.launch @marked grid(%c1) ins(%s : tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %u: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x8xf32>
  %t = tile.launch @marked grid(%c1) ins(%n : tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %w = linalg.generic {indexing_maps = [#turned, #row], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %u: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x8xf32>
  return %z, %m, %n, %w : tensor<40xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
