// Matrix products on a CPU: what is constructed, what a person wrote, and that kernels obey.
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4 top=3}))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4}),convert-linalg-to-tile{chip=x86-64-v4})' | FileCheck %s --check-prefix=KERNEL
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(convert-linalg-to-tile{chip=x86-64-v4})' | FileCheck %s --check-prefix=PLAIN
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4 policy=fixed}))' | FileCheck %s --check-prefix=FIXED
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4 policy=random seed=3}))' -o %t.once
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4 policy=random seed=3}))' | diff - %t.once
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tile-construct-tiles{chip=x86-64-v4 policy=random seed=4}))' | not diff - %t.once

// Constructed: blocks of whole register tiles, packing, what it costs; three of them.
// CHECK: #[[BEST:.*]] = #tile.schedule<kind = "packed", block = [{{[0-9]+, [0-9]+, [0-9]+}}], register = [{{[0-9]+, (32|64)}}], time = {{[0-9]+}}, traffic = [{{[0-9]+}}], occupancy = 100, bound = "{{.*}}", evaluations = {{[0-9]+}}>
// CHECK-LABEL: func.func @constructed
// CHECK: attrs = {tile.schedule = #[[BEST]], tile.schedules = [#[[BEST]], #schedule{{.*}}, #schedule{{.*}}]}
// KERNEL-LABEL: func.func @constructed
// KERNEL: tile.kernel private @matmul_0
// KERNEL: tile.copy
// KERNEL: tile.copy
func.func @constructed(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%c : tensor<1024x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// -----

// Fewer columns than a vector has lanes, over a long k: B is packed by columns, lanes are along k.
// CHECK: #tile.schedule<kind = "along-depth", block = [{{[0-9]+}}, 3, 179], register = [5, 3], time
// CHECK-LABEL: func.func @few_columns
// KERNEL-LABEL: func.func @few_columns
// PLAIN-LABEL: func.func @few_columns
// PLAIN: tile.mma {{.*}} -> tensor<8x32xf32>
// FIXED: #tile.schedule<kind = "packed", block = [128, 256, 179], register = [8, 32], time
// FIXED-LABEL: func.func @few_columns
// KERNEL: tile.kernel private @matmul_0
// KERNEL: %[[B:.*]] = tile.alloc
// KERNEL: tile.copy %{{.*}}
// KERNEL-NOT: tile.copy
// KERNEL: %[[COLUMNS:.*]] = tile.load {{.*}} -> tensor<3x179xf32>
// KERNEL: tile.transpose %[[COLUMNS]] [1, 0] : tensor<3x179xf32> -> tensor<179x3xf32>
// KERNEL: tile.mma
func.func @few_columns(%a: tensor<73x179xf32>, %b: tensor<179x3xf32>, %c: tensor<73x3xf32>) -> tensor<73x3xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<73x179xf32>, tensor<179x3xf32>) outs(%c : tensor<73x3xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<73x3xf32>
  return %0 : tensor<73x3xf32>
}

// -----

// The same over a k that fills no vector: nothing along it.
// CHECK-NOT: b:"k"
// CHECK-LABEL: func.func @short
func.func @short(%a: tensor<73x15xf32>, %b: tensor<15x3xf32>, %c: tensor<73x3xf32>) -> tensor<73x3xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<73x15xf32>, tensor<15x3xf32>) outs(%c : tensor<73x3xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<73x3xf32>
  return %0 : tensor<73x3xf32>
}

// -----

// Few rows: B is read where it lies.
// CHECK: #tile.schedule<kind = "streamed", block = [2, {{[0-9]+, [0-9]+}}], time
// CHECK-LABEL: func.func @rows
// KERNEL-LABEL: func.func @rows
// KERNEL: tile.kernel private @matmul_0
// KERNEL-NOT: tile.alloc
func.func @rows(%a: tensor<2x512xf32>, %b: tensor<512x4096xf32>, %c: tensor<2x4096xf32>) -> tensor<2x4096xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x512xf32>, tensor<512x4096xf32>) outs(%c : tensor<2x4096xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x4096xf32>
  return %0 : tensor<2x4096xf32>
}

// -----

// What a person wrote stays and is obeyed: 4 x 3 programs, a block of A of 64 x 64, panels of B of 64 x 48, register
// tiles of 5 x 48.
// CHECK: #tile.schedule<kind = "packed", block = [65, 96, 64], register = [5, 48], time = {{[0-9]+}}
// CHECK-LABEL: func.func @mine
// KERNEL-DAG: = !tile.buffer<65x64xf32,
// KERNEL-DAG: = !tile.buffer<64x48xf32,
// KERNEL-LABEL: func.func @mine
// KERNEL: %[[N:.*]] = arith.constant 3 : index
// KERNEL: %[[M:.*]] = arith.constant 4 : index
// KERNEL: tile.launch @matmul_0 grid(%{{.*}}, %{{.*}}) ins
// KERNEL: tile.kernel private @matmul_0
// KERNEL: tile.mma %{{.*}} : tensor<5x{{.*}}xf32>, tensor<{{.*}}x48xf32> -> tensor<5x48xf32>
func.func @mine(%a: tensor<256x256xf32>, %b: tensor<256x288xf32>, %c: tensor<256x288xf32>) -> tensor<256x288xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x288xf32>) outs(%c : tensor<256x288xf32>) attrs = {tile.schedule = #tile.schedule<kind = "packed", block = [65, 96, 64], register = [5, 48]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x288xf32>
  return %0 : tensor<256x288xf32>
}

// -----

// A block alone: the register tile is chosen for it.
// CHECK: #tile.schedule<kind = "packed", block = [64, 64, 32], register = [{{[48], (32|64)}}], time
// CHECK-LABEL: func.func @block
// KERNEL: = !tile.buffer<64x32xf32,
// KERNEL-LABEL: func.func @block
func.func @block(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) attrs = {tile.schedule = #tile.schedule<block = [64, 64, 32]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// -----

// The schedule says that nothing is packed.
// CHECK: #tile.schedule<kind = "streamed", block = [8, 128, 2], time
// CHECK-LABEL: func.func @unpacked
// KERNEL-LABEL: func.func @unpacked
// KERNEL: tile.kernel private @matmul_0
// KERNEL-NOT: tile.alloc
// KERNEL: tile.mma %{{.*}} : tensor<8x2xf32>, tensor<2x128xf32> -> tensor<8x128xf32>
func.func @unpacked(%a: tensor<8x64xf32>, %b: tensor<64x512xf32>, %c: tensor<8x512xf32>) -> tensor<8x512xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8x64xf32>, tensor<64x512xf32>) outs(%c : tensor<8x512xf32>) attrs = {tile.schedule = #tile.schedule<kind = "streamed", block = [8, 128, 2]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x512xf32>
  return %0 : tensor<8x512xf32>
}

// -----

// Small operands: register tiles where they lie, block after block of k; rows, columns and k end in tiles of their own.
// CHECK: #tile.schedule<kind = "direct", block = [16, 64, 64], register = [8, 32], time
// CHECK-LABEL: func.func @direct
// KERNEL-LABEL: func.func @direct
// KERNEL: tile.kernel private @matmul_0
// KERNEL-NOT: tile.alloc
// KERNEL-DAG: tile.mma %{{.*}} : tensor<8x64xf32>, tensor<64x32xf32> -> tensor<8x32xf32>
// KERNEL-DAG: tile.mma %{{.*}} : tensor<5x64xf32>, tensor<64x32xf32> -> tensor<5x32xf32>
// KERNEL-DAG: tile.mma %{{.*}} : tensor<8x64xf32>, tensor<64x7xf32> -> tensor<8x7xf32>
// KERNEL-DAG: tile.mma %{{.*}} : tensor<5x36xf32>, tensor<36x7xf32> -> tensor<5x7xf32>
func.func @direct(%a: tensor<21x100xf32>, %b: tensor<100x71xf32>, %c: tensor<21x71xf32>) -> tensor<21x71xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<21x100xf32>, tensor<100x71xf32>) outs(%c : tensor<21x71xf32>) attrs = {tile.schedule = #tile.schedule<kind = "direct", block = [16, 64, 64], register = [8, 32]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<21x71xf32>
  return %0 : tensor<21x71xf32>
}

// -----

// Packed, the last panel is as narrow as whole vectors allow.
// CHECK-LABEL: func.func @narrow
// KERNEL-LABEL: func.func @narrow
// KERNEL: tile.kernel private @matmul_0
// KERNEL: tile.mma %{{.*}} -> tensor<4x64xf32>
// KERNEL: tile.mma %{{.*}} -> tensor<4x16xf32>
// KERNEL-NOT: tile.mma
func.func @narrow(%a: tensor<64x64xf32>, %b: tensor<64x139xf32>, %c: tensor<64x139xf32>) -> tensor<64x139xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x139xf32>) outs(%c : tensor<64x139xf32>) attrs = {tile.schedule = #tile.schedule<kind = "packed", block = [64, 64, 64], register = [4, 64]>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x139xf32>
  return %0 : tensor<64x139xf32>
}
