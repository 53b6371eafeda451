// A launch that becomes part of another one keeps its layouts: sums of f32 have the bits of separate launches, though
// the kernels of a program run on the warps of the widest one.
// RUN: %tile_run %s --target=emulate:sm_80 --seed=1 --out=%t.x.npy --out=%t.a.npy --out=%t.b.npy
// RUN: %tile_run %s --target=emulate:sm_80 --seed=1 --persistent=always --out=%t.x.npy --out=%t.c.npy --out=%t.d.npy --stats=%t.json
// RUN: cmp %t.a.npy %t.c.npy
// RUN: cmp %t.b.npy %t.d.npy
// RUN: FileCheck %s --check-prefix=STATS < %t.json
// RUN: %tile_run %s --target=emulate:gfx942 --seed=1 --out=%t.x.npy --out=%t.a.npy --out=%t.b.npy
// RUN: %tile_run %s --target=emulate:gfx942 --seed=1 --persistent=always --out=%t.x.npy --out=%t.c.npy --out=%t.d.npy
// RUN: cmp %t.a.npy %t.c.npy
// RUN: cmp %t.b.npy %t.d.npy
// STATS: "launches": 1,

// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts{chip=sm_80}),tile-co-schedule-kernels{chip=sm_80 persistent=always},symbol-dce)' | FileCheck %s
// CHECK: #[[few:.*]] = #tile.layout<reg [8:d1*16, 5:d1*128], lane [2:d0, 16:d1], warp [4:_]>
// CHECK: tile.kernel private @program
// CHECK-SAME: warps = 4 : i32
// CHECK: tile.load {{.*}} -> tensor<2x640xf32, #[[few]]>
// CHECK-NOT: tile.kernel

// Without layouts one of them would add up in another order, so the launches stay apart.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-co-schedule-kernels{chip=sm_80 persistent=always remarks=true})' 2>&1 | FileCheck %s --check-prefix=APART
// APART: is not co-scheduled: it has other warps, and tiles without layouts
// APART-COUNT-2: tile.launch
func.func @main(%x: memref<2x640xf32>, %few: memref<2xf32>, %many: memref<2xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @few grid(%c1) ins(%x : memref<2x640xf32>) outs(%few : memref<2xf32>)
  tile.launch @many grid(%c1) ins(%x, %few : memref<2x640xf32>, memref<2xf32>) outs(%many : memref<2xf32>)
  return
}
tile.kernel private @few(%x: memref<2x640xf32>, %y: memref<2xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<2x640xf32> to !tile.view<2x640xf32>
  %Y = tile.view %y : memref<2xf32> to !tile.view<2xf32>
  %t = tile.load %X[%c0, %c0] : !tile.view<2x640xf32> -> tensor<2x640xf32>
  %s = tile.reduce {arith.addf} %t axes [1] : tensor<2x640xf32> -> tensor<2xf32>
  tile.store %s, %Y[%c0] : tensor<2xf32>, !tile.view<2xf32>
  tile.return
}
tile.kernel private @many(%x: memref<2x640xf32>, %f: memref<2xf32>, %y: memref<2xf32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<2x640xf32> to !tile.view<2x640xf32>
  %F = tile.view %f : memref<2xf32> to !tile.view<2xf32>
  %Y = tile.view %y : memref<2xf32> to !tile.view<2xf32>
  %t = tile.load %X[%c0, %c0] : !tile.view<2x640xf32> -> tensor<2x640xf32>
  %u = tile.load %F[%c0] : !tile.view<2xf32> -> tensor<2xf32>
  %s = tile.reduce {arith.addf} %t axes [1] : tensor<2x640xf32> -> tensor<2xf32>
  %v = arith.addf %s, %u : tensor<2xf32>
  tile.store %v, %Y[%c0] : tensor<2xf32>, !tile.view<2xf32>
  tile.return
}
