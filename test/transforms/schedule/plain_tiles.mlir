// What no policy is asked for on a CPU gets the plain sizes of its kernel, as a schedule that can be read and edited.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4 ops=products}))' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4}))' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4}))' --tile-pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=sm_80}))' | FileCheck %s --check-prefix=GPU
// The conversion takes the same sizes with the schedule and without it.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4 ops=products}),convert-linalg-to-tile{chip=x86-64-v4})' | sed 's/ attributes {schedule = #schedule[0-9]*}//; /^#schedule/d' > %t.with
// RUN: %tile_opt %s --pass-pipeline='builtin.module(convert-linalg-to-tile{chip=x86-64-v4})' > %t.without
// RUN: diff %t.with %t.without
// RUN: %tile_run %s --entry=argmax --check-against=interpret
// RUN: %tile_run %s --entry=softmax --check-against=interpret
// RUN: %tile_run %s --entry=pack --check-against=interpret
// COUNT: tile-construct-tiles: 4 plain
// GPU-NOT: kind = "vector"

// CHECK-DAG: #[[ARGMAX:.*]] = #tile.schedule<kind = "vector", block = [1, 64], time =
// CHECK-DAG: #[[SOFTMAX:.*]] = #tile.schedule<kind = "vector", block = [4, 1000], time =
// CHECK-DAG: #[[LONG:.*]] = #tile.schedule<kind = "vector", block = [3, {{[0-9]+}}], time =
// CHECK-DAG: #[[PACK:.*]] = #tile.schedule<kind = "vector", block = [1, 1, 8, 8], time =

// CHECK-LABEL: func.func @argmax
// CHECK: linalg.generic {{.*}}tile.schedule = #[[ARGMAX]]
func.func @argmax(%x: tensor<7x1000xf32>) -> (tensor<7xf32>, tensor<7xindex>) {
  %lowest = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : index
  %a = tensor.empty() : tensor<7xf32>
  %b = tensor.empty() : tensor<7xindex>
  %best = linalg.fill ins(%lowest : f32) outs(%a : tensor<7xf32>) -> tensor<7xf32>
  %at = linalg.fill ins(%none : index) outs(%b : tensor<7xindex>) -> tensor<7xindex>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x1000xf32>) outs(%best, %at : tensor<7xf32>, tensor<7xindex>) {
  ^bb0(%v: f32, %m: f32, %p: index):
    %j = linalg.index 1 : index
    %c = arith.cmpf ogt, %v, %m : f32
    %s = arith.select %c, %v, %m : f32
    %q = arith.select %c, %j, %p : index
    linalg.yield %s, %q : f32, index
  } -> (tensor<7xf32>, tensor<7xindex>)
  return %r#0, %r#1 : tensor<7xf32>, tensor<7xindex>
}

// Whole rows.
// CHECK-LABEL: func.func @softmax
// CHECK: linalg.softmax {tile.schedule = #[[SOFTMAX]]}
func.func @softmax(%x: tensor<33x1000xf32>) -> tensor<33x1000xf32> {
  %e = tensor.empty() : tensor<33x1000xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<33x1000xf32>) outs(%e : tensor<33x1000xf32>) -> tensor<33x1000xf32>
  return %r : tensor<33x1000xf32>
}

// Parts of rows of unknown length.
// CHECK-LABEL: func.func @long
// CHECK: linalg.softmax {tile.schedule = #[[LONG]]}
func.func @long(%x: tensor<3x?xf32>, %e: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<3x?xf32>) outs(%e : tensor<3x?xf32>) -> tensor<3x?xf32>
  return %r : tensor<3x?xf32>
}

// CHECK-LABEL: func.func @pack
// CHECK: linalg.pack {{.*}}tile.schedule = #[[PACK]]
func.func @pack(%x: tensor<33x100xf32>) -> tensor<5x13x8x8xf32> {
  %e = tensor.empty() : tensor<5x13x8x8xf32>
  %zero = arith.constant 0.0 : f32
  %r = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %e : tensor<33x100xf32> -> tensor<5x13x8x8xf32>
  return %r : tensor<5x13x8x8xf32>
}
