// Kernels for a GPU: tiles from the machine's description, operands from memory, a grid that the driver takes.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-construct-tiles{chip=sm_80}),tile-group-ops{chip=sm_80},convert-linalg-to-tile{chip=sm_80},tile.kernel(canonicalize))' | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-construct-tiles{chip=gfx942}),tile-group-ops{chip=gfx942},convert-linalg-to-tile{chip=gfx942},tile.kernel(canonicalize))' | FileCheck %s --check-prefixes=CHECK,GFX942
// The module's own machine is as good; the option wins.
// RUN: sed -e 's/attributes {test.any}/attributes {tile.machine = #tile.machine<"sm_80">}/' %s | %tile_opt --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops,tile-construct-tiles),tile-group-ops,convert-linalg-to-tile,tile.kernel(canonicalize))' | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: not %tile_opt %s --pass-pipeline='builtin.module(tile-group-ops{chip=sm_8},convert-linalg-to-tile{chip=sm_8})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: {{.*}}sm_8

module attributes {test.any} {
// A large product: large tiles on more warps; no local buffers; the kernel says how it was scheduled.
// CHECK-LABEL: tile.kernel private @matmul_
// SM80-SAME: machine = #tile.machine<"sm_80">, schedule = #{{[a-z0-9]+}}, warps = 8 : i32
// GFX942-SAME: machine = #tile.machine<"gfx942">, schedule = #{{[a-z0-9]+}}, warps = 4 : i32
// CHECK-NOT: tile.alloc
// CHECK: scf.for
// SM80: tile.mma {{.*}} tensor<128x64xf16>, tensor<64x256xf16> -> tensor<128x256xf32>
// GFX942: tile.mma {{.*}} tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
func.func @large(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// Odd sizes: powers of two that waste little.
// CHECK-LABEL: tile.kernel private @matmul_
// SM80: tile.mma {{.*}} tensor<4x32xf32>, tensor<32x8xf32> -> tensor<4x8xf32>
// GFX942: tile.mma {{.*}} tensor<16x32xf32>, tensor<32x16xf32> -> tensor<16x16xf32>
func.func @small(%a: tensor<13x29xf32>, %b: tensor<29x37xf32>, %c: tensor<13x37xf32>) -> tensor<13x37xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<13x29xf32>, tensor<29x37xf32>) outs(%c : tensor<13x37xf32>) -> tensor<13x37xf32>
  return %0 : tensor<13x37xf32>
}

// The chip's instructions for bf16 add in f32: sums are held in f32 and rounded once.
// CHECK-LABEL: tile.kernel private @product_
// CHECK: %[[START:.*]] = arith.extf %{{.*}} : tensor<[[TILE:[0-9x]+]]xbf16> to tensor<[[TILE]]xf32>
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[START]])
// CHECK: tile.mma {{.*}} -> tensor<[[TILE]]xf32>
// CHECK: arith.truncf %[[SUM]] : tensor<[[TILE]]xf32> to tensor<[[TILE]]xbf16>
func.func @narrow_sums(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>, %c: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %0 = linalg.matmul ins(%a, %b : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%c : tensor<512x512xbf16>) -> tensor<512x512xbf16>
  return %0 : tensor<512x512xbf16>
}

// What the op's schedule says goes before what would be constructed.
// CHECK-LABEL: tile.kernel private @elementwise_
// CHECK: tile.load {{.*}} -> tensor<2x64xf32>
func.func @scheduled(%a: tensor<64x4096xf32>, %b: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x4096xf32>) outs(%b : tensor<64x4096xf32>) attrs = {tile.schedule = #tile.schedule<block = [2, 64], warps = [1]>} {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<64x4096xf32>
  return %0 : tensor<64x4096xf32>
}

// Rows of unknown number may be more than a grid's second axis takes.
// CHECK-LABEL: func.func @long
// SM80: tile.launch @elementwise_{{[0-9]+}} grid(%{{[^,]*}}) ins
// SM80: tile.load {{.*}} -> tensor<1024xf32>
// GFX942: tile.load {{.*}} -> tensor<4096xf32>
func.func @long(%a: tensor<?x4096xf32>, %b: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %0 = linalg.add ins(%a, %a : tensor<?x4096xf32>, tensor<?x4096xf32>) outs(%b : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %0 : tensor<?x4096xf32>
}
}
