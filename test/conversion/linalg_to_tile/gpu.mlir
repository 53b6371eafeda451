// Kernels for a GPU: tiles from the machine's description, operands from memory, a grid that the driver takes.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),convert-linalg-to-tile{chip=sm_80},tile.kernel(canonicalize))' | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),convert-linalg-to-tile{chip=gfx942},tile.kernel(canonicalize))' | FileCheck %s --check-prefixes=CHECK,GFX942
// The module's own machine is as good; the option wins.
// RUN: sed -e 's/attributes {test.any}/attributes {tile.machine = #tile.machine<"sm_80">}/' %s | %tile_opt --pass-pipeline='builtin.module(func.func(linalg-generalize-named-ops),convert-linalg-to-tile,tile.kernel(canonicalize))' | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: not %tile_opt %s --pass-pipeline='builtin.module(convert-linalg-to-tile{chip=sm_8})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: {{.*}}sm_8

module attributes {test.any} {
// A large product: large tiles on more warps; no local buffers.
// CHECK-LABEL: tile.kernel private @matmul_
// SM80-SAME: machine = #tile.machine<"sm_80">, warps = 8 : i32
// GFX942-SAME: machine = #tile.machine<"gfx942">, warps = 8 : i32
// CHECK-NOT: tile.alloc
// CHECK: scf.for
// CHECK: tile.mma {{.*}} tensor<128x32xf16>, tensor<32x128xf16> -> tensor<128x128xf32>
func.func @large(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// Odd sizes: powers of two that cover them.
// CHECK-LABEL: tile.kernel private @matmul_
// CHECK: tile.mma {{.*}} tensor<16x16xf32>, tensor<16x32xf32> -> tensor<16x32xf32>
func.func @small(%a: tensor<13x29xf32>, %b: tensor<29x37xf32>, %c: tensor<13x37xf32>) -> tensor<13x37xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<13x29xf32>, tensor<29x37xf32>) outs(%c : tensor<13x37xf32>) -> tensor<13x37xf32>
  return %0 : tensor<13x37xf32>
}

// Rows of unknown number may be more than a grid's second axis takes.
// CHECK-LABEL: func.func @long
// SM80: tile.launch @elementwise_{{[0-9]+}} grid(%{{[^,]*}}) ins
// SM80: tile.load {{.*}} -> tensor<1024xf32>
// GFX942: tile.load {{.*}} -> tensor<2048xf32>
func.func @long(%a: tensor<?x4096xf32>, %b: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %0 = linalg.add ins(%a, %a : tensor<?x4096xf32>, tensor<?x4096xf32>) outs(%b : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %0 : tensor<?x4096xf32>
}
}
