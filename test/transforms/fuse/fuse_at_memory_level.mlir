// tile-fuse-at-memory-level writes groups that one kernel computes, with levels, blocks, traffic and footprint. It leaves
// alone what gains nothing and what is illegal, and says why.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tile-generalize-named-ops),tile-fuse-at-memory-level{chip=sm_80 remarks=true})' | FileCheck %s
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile-fuse-at-memory-level{objective=speed})' 2>&1 | FileCheck %s --check-prefix=OBJECTIVE
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile-fuse-at-memory-level{search=beam})' 2>&1 | FileCheck %s --check-prefix=SEARCH
// OBJECTIVE: error: {{.*}}objective: unknown 'speed'; accepts time, total-traffic and waves
// SEARCH: error: {{.*}}search: unknown 'beam'; accepts construct and exhaustive-model

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A row is read once: 512 x 768 x 4 bytes in, as many out. The edges: fill into the fold, the sum into the difference.
// CHECK: #[[S:.*]] = #tile.schedule<kind = "group", block = [1, 1024], warps = [4], time = {{[0-9]+}}, traffic = [3145728], footprint = {{[0-9]+}}, evaluations = {{[0-9]+}}>
// CHECK-LABEL: func.func @centred
// CHECK: tile.group ins(%{{.*}} : tensor<512x768xf32>) meets [shared, register] schedule #[[S]] -> tensor<512x768xf32>
func.func @centred(%x: tensor<512x768xf32>) -> tensor<512x768xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  // expected-remark @+1 {{is fused with 1 ops that follow it: 3145728 bytes}}
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x768xf32>) outs(%f : tensor<512xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.addf %o, %v : f32
    linalg.yield %t : f32
  } -> tensor<512xf32>
  %e2 = tensor.empty() : tensor<512x768xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<512x768xf32>, tensor<512xf32>) outs(%e2 : tensor<512x768xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %t = arith.subf %v, %w : f32
    linalg.yield %t : f32
  } -> tensor<512x768xf32>
  return %r : tensor<512x768xf32>
}

// -----

// The sum is used again after the group: it is a result too.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func.func @two_results
// CHECK: %[[G:.*]]:2 = tile.group {{.*}} -> tensor<512xf32>, tensor<512x768xf32>
// CHECK: return %[[G]]#1, %[[G]]#0
func.func @two_results(%x: tensor<512x768xf32>) -> (tensor<512x768xf32>, tensor<512xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  // expected-remark @+1 {{is fused with 1 ops that follow it: 3147776 bytes}}
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x768xf32>) outs(%f : tensor<512xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.addf %o, %v : f32
    linalg.yield %t : f32
  } -> tensor<512xf32>
  %e2 = tensor.empty() : tensor<512x768xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<512x768xf32>, tensor<512xf32>) outs(%e2 : tensor<512x768xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %t = arith.subf %v, %w : f32
    linalg.yield %t : f32
  } -> tensor<512x768xf32>
  return %r, %s : tensor<512x768xf32>, tensor<512xf32>
}

// -----

// What leaves the first op comes back by way of a call: the two are no group.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func private @outside(tensor<512xf32>) -> tensor<512xf32>
// CHECK-LABEL: func.func @comes_back
// CHECK-NOT: tile.group
func.func @comes_back(%x: tensor<512x768xf32>) -> tensor<512x768xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x768xf32>) outs(%f : tensor<512xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.addf %o, %v : f32
    linalg.yield %t : f32
  } -> tensor<512xf32>
  %c = func.call @outside(%s) : (tensor<512xf32>) -> tensor<512xf32>
  %e2 = tensor.empty() : tensor<512x768xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %c : tensor<512x768xf32>, tensor<512xf32>, tensor<512xf32>) outs(%e2 : tensor<512x768xf32>) {
  ^bb0(%v: f32, %w: f32, %y: f32, %o: f32):
    %t = arith.subf %v, %w : f32
    %u = arith.addf %t, %y : f32
    linalg.yield %u : f32
  } -> tensor<512x768xf32>
  return %r : tensor<512x768xf32>
}

// -----

// f32 has no matrix instruction here: by time the second product does not take its factor from the group.
#id = affine_map<(i, j) -> (i, j)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @products
// CHECK-NOT: tile.group
func.func @products(%x: tensor<512x64xf32>, %w: tensor<64x64xf32>) -> tensor<512x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x64xf32>) -> tensor<512x64xf32>
  // expected-remark @+1 {{is not fused with what follows it: a factor would reach the lanes of its product by shuffles}}
  %h = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<512x64xf32>, tensor<64x64xf32>) outs(%f : tensor<512x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %o, %t : f32
    linalg.yield %u : f32
  } -> tensor<512x64xf32>
  %y = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%h, %w : tensor<512x64xf32>, tensor<64x64xf32>) outs(%f : tensor<512x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %o, %t : f32
    linalg.yield %u : f32
  } -> tensor<512x64xf32>
  return %y : tensor<512x64xf32>
}

// -----

// A convolution's window is a sum of dimensions.
#in = affine_map<(i, k) -> (i + k)>
#k = affine_map<(i, k) -> (k)>
#i = affine_map<(i, k) -> (i)>
#one = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @window
// CHECK-NOT: tile.group
func.func @window(%x: tensor<66xf32>, %w: tensor<3xf32>) -> tensor<64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<66xf32>
  // expected-remark @+1 {{is not fused with what follows it: }}
  %a = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%x : tensor<66xf32>) outs(%e : tensor<66xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = math.absf %v : f32
    linalg.yield %t : f32
  } -> tensor<66xf32>
  %e2 = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e2 : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#in, #k, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a, %w : tensor<66xf32>, tensor<3xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%v: f32, %u: f32, %o: f32):
    %p = arith.mulf %v, %u : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %s : tensor<64xf32>
}

// -----

// Attention whose products give f16, which tile-group-ops leaves alone: one group, which walks the 1024 keys by blocks.
// Each byte is read as often as one walk needs it.
// CHECK: #[[S:.*]] = #tile.schedule<kind = "group", block = [1, 32, 256, 64, 64], {{.*}}traffic = [25952256]
// CHECK-LABEL: func.func @attention_of_halves
// CHECK: tile.group {{.*}} schedule #[[S]]
// CHECK: return
func.func @attention_of_halves(%q: tensor<24x128x64xf16>, %k: tensor<24x64x1024xf16>, %v: tensor<24x1024x64xf16>) -> tensor<24x128x64xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<24x128x1024xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<24x128x1024xf16>) -> tensor<24x128x1024xf16>
  // expected-remark @+1 {{is fused with 2 ops that follow it: 25952256 bytes}}
  %s = linalg.batch_matmul ins(%q, %k : tensor<24x128x64xf16>, tensor<24x64x1024xf16>) outs(%f : tensor<24x128x1024xf16>) -> tensor<24x128x1024xf16>
  %p = linalg.softmax dimension(2) ins(%s : tensor<24x128x1024xf16>) outs(%e : tensor<24x128x1024xf16>) -> tensor<24x128x1024xf16>
  %eo = tensor.empty() : tensor<24x128x64xf16>
  %fo = linalg.fill ins(%z : f16) outs(%eo : tensor<24x128x64xf16>) -> tensor<24x128x64xf16>
  %o = linalg.batch_matmul ins(%p, %v : tensor<24x128x1024xf16>, tensor<24x1024x64xf16>) outs(%fo : tensor<24x128x64xf16>) -> tensor<24x128x64xf16>
  return %o : tensor<24x128x64xf16>
}
