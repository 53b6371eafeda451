// Tiles from the machine's description: what is chosen, why, what is kept, and what is refused.
// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-construct-tiles{chip=sm_80 remarks=true}))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-construct-tiles{chip=sm_80 policy=exhaustive-model}))' | FileCheck %s --check-prefix=ALL
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=sm_8}))' 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=sm_80 top=17}))' 2>&1 | FileCheck %s --check-prefix=TOP
// RUN: not %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=sm_80 policy=luck}))' 2>&1 | FileCheck %s --check-prefix=POLICY
// CHIP: error: {{.*}}sm_8
// TOP: error: {{.*}}top: 17; it takes 1 to 16
// POLICY: error: {{.*}}policy: unknown 'luck'; the policies are construct, exhaustive-model, measure, fixed, random

// A large product: many warps, every prediction, aligned to the instruction.
// CHECK: #[[LARGE:.*]] = #tile.schedule<kind = "product", block = [{{[0-9]+, [0-9]+, [0-9]+}}], warps = [{{[248], [248], 1}}], stages = {{[234]}}, group = [{{[0-9]+}}], time = {{[0-9]+}}, traffic = [{{[0-9]+, [0-9]+}}], occupancy = {{[0-9]+}}, bound = "{{.*}}", evaluations = {{[0-9]+}}>
// CHECK-LABEL: func.func @large
// CHECK: linalg.generic {{.*}} attrs = {tile.schedule = #[[LARGE]], tile.schedules = [#[[LARGE]], #
// ALL-LABEL: func.func @large
func.func @large(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  // expected-remark-re@below {{tile {{.*}} bound by {{.*}} programs of {{.*}} evaluations}}
  // expected-remark-re@below {{before {{.*}} us, bound by}}
  %0 = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// -----

// One step of k: a product all the same.
// CHECK: #[[OUTER:.*]] = #tile.schedule<kind = "product",
// CHECK-LABEL: func.func @outer
// CHECK: linalg.generic {{.*}} attrs = {tile.schedule = #[[OUTER]]
func.func @outer(%a: tensor<3x1xf32>, %b: tensor<1x33xf32>, %c: tensor<3x33xf32>) -> tensor<3x33xf32> {
  // expected-remark-re@below {{tile {{.*}} on 1 warps}}
  %0 = linalg.matmul ins(%a, %b : tensor<3x1xf32>, tensor<1x33xf32>) outs(%c : tensor<3x33xf32>) -> tensor<3x33xf32>
  return %0 : tensor<3x33xf32>
}

// -----

// What a person wrote stays; what it leaves out and what it costs are filled in.
// CHECK: #[[MINE:.*]] = #tile.schedule<kind = "product", block = [32, 64, 32], warps = [1, 4, 1], stages = 3, registers = {{[0-9]+}}, time = {{[0-9]+}},
// CHECK-LABEL: func.func @mine
// CHECK: linalg.generic {{.*}}tile.schedule = #[[MINE]]
func.func @mine(%a: tensor<128x128xf16>, %b: tensor<128x128xf16>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  // expected-remark@below {{tile [32, 64, 32] on 4 warps}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<128x128xf16>, tensor<128x128xf16>) outs(%c : tensor<128x128xf32>) attrs = {tile.schedule = #tile.schedule<block = [32, 64, 32], warps = [1, 4, 1], stages = 3>} {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %x32 = arith.extf %x : f16 to f32
    %y32 = arith.extf %y : f16 to f32
    %p = arith.mulf %x32, %y32 : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// All warps along m, given by hand, where the count of warps alone would have been chosen otherwise.
// CHECK: #[[ALONG:.*]] = #tile.schedule<kind = "product", block = [64, 16, 32], warps = [4, 1, 1], stages = 2, {{.*}}time = {{[0-9]+}},
// CHECK-LABEL: func.func @warps_along_m
// CHECK: linalg.generic {{.*}}tile.schedule = #[[ALONG]]
func.func @warps_along_m(%a: tensor<256x128xf32>, %b: tensor<128x16xf32>, %c: tensor<256x16xf32>) -> tensor<256x16xf32> {
  // expected-remark@below {{tile [64, 16, 32] on 4 warps}}
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x128xf32>, tensor<128x16xf32>) outs(%c : tensor<256x16xf32>) attrs = {tile.schedule = #tile.schedule<block = [64, 16, 32], warps = [4, 1, 1], stages = 2>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x16xf32>
  return %0 : tensor<256x16xf32>
}

// -----

// A transpose: long runs on both sides.
// CHECK: #tile.schedule<kind = "threads", block = [{{(8|16|32|64|128|256), (8|16|32|64|128|256)}}], warps = [{{[0-9]+}}]
// CHECK-LABEL: func.func @transpose
func.func @transpose(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  // expected-remark@below {{tile}}
  // expected-remark@below {{before}}
  %0 = linalg.transpose ins(%a : tensor<4096x4096xf32>) outs(%b : tensor<4096x4096xf32>) permutation = [1, 0]
  return %0 : tensor<4096x4096xf32>
}

// -----

// An extent that is not known is planned for a bucket.
// CHECK: #tile.schedule<kind = "threads", block = [1, 1024], warps = [4]
// CHECK-LABEL: func.func @unknown
func.func @unknown(%a: tensor<?x4096xf32>, %b: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  // expected-remark@below {{tile [1, 1024] on 4 warps}}
  // expected-remark@below {{before}}
  %0 = linalg.add ins(%a, %a : tensor<?x4096xf32>, tensor<?x4096xf32>) outs(%b : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %0 : tensor<?x4096xf32>
}

// -----

// A running sum down the columns: its steps go one by one, a tile runs across.
// CHECK: #tile.schedule<kind = "threads", block = [1, {{[0-9]+}}], warps = [{{[0-9]+}}], time = {{[0-9]+}}, traffic = [33587200],
// CHECK-LABEL: func.func @running_sum
func.func @running_sum(%x: tensor<1024x4096xf32>, %y: tensor<1024x4096xf32>, %c: tensor<4096xf32>) -> tensor<1024x4096xf32> {
  // expected-remark@below {{tile [1, }}
  // expected-remark@below {{before [1, }}
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<1024x4096xf32>) outs(%y, %c : tensor<1024x4096xf32>, tensor<4096xf32>) {
  ^bb0(%e: f32, %o: f32, %s: f32):
    %t = arith.addf %s, %e : f32
    linalg.yield %t, %t : f32, f32
  } -> (tensor<1024x4096xf32>, tensor<4096xf32>)
  return %0#0 : tensor<1024x4096xf32>
}

// -----

// A gather: each element of the table by itself, rows of the result as they are stored.
// CHECK: #tile.schedule<kind = "threads", block = [{{[0-9]+, [0-9]+}}], warps = [{{[0-9]+}}], time = {{[0-9]+}}, traffic = [{{67[0-9]+}}],
// CHECK-LABEL: func.func @gather
func.func @gather(%table: tensor<50000x1024xf32>, %rows: tensor<8192xindex>, %y: tensor<8192x1024xf32>) -> tensor<8192x1024xf32> {
  // expected-remark@below {{tile}}
  // expected-remark@below {{before}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<8192xindex>) outs(%y : tensor<8192x1024xf32>) {
  ^bb0(%r: index, %o: f32):
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%r, %j] : tensor<50000x1024xf32>
    linalg.yield %v : f32
  } -> tensor<8192x1024xf32>
  return %0 : tensor<8192x1024xf32>
}

// -----

// An argmax is folded step by step, side by side with others: how many is chosen, and with it the warps.
// CHECK: #[[FOLD:.*]] = #tile.schedule<kind = "threads", block = [{{[0-9]+}}, 1], warps = [1],
// CHECK-LABEL: func.func @argmax
// CHECK: linalg.generic {{.*}} attrs = {tile.schedule = #[[FOLD]]
func.func @argmax(%x: tensor<64x100xf32>, %v: tensor<64xf32>, %i: tensor<64xindex>) -> tensor<64xindex> {
  // expected-remark-re@below {{tile {{.*}} on 1 warps}}
  // expected-remark@below {{before}}
  %0:2 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x100xf32>) outs(%v, %i : tensor<64xf32>, tensor<64xindex>) {
  ^bb0(%e: f32, %best: f32, %at: index):
    %b = linalg.index 1 : index
    %c = arith.cmpf ogt, %e, %best : f32
    %n = arith.select %c, %e, %best : f32
    %p = arith.select %c, %b, %at : index
    linalg.yield %n, %p : f32, index
  } -> (tensor<64xf32>, tensor<64xindex>)
  return %0#1 : tensor<64xindex>
}
