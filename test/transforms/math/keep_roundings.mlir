// Each op of a chain in bf16 rounds, although upstream's emulation says that its roundings may go.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(arith-emulate-unsupported-floats{source-types=bf16 target-type=f32},canonicalize))' | FileCheck %s --check-prefix=FOLDED
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(arith-emulate-unsupported-floats{source-types=bf16 target-type=f32},tile-keep-roundings,canonicalize))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(tile-keep-roundings)' | FileCheck %s --check-prefix=PLAIN

// FOLDED-COUNT-1: f32 to bf16
// FOLDED-NOT: f32 to bf16
// CHECK: arith.mulf
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.extf
// CHECK: arith.mulf
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// What has no flag stays as it is, also where it is rounded another way.
// PLAIN: arith.truncf %{{.*}} downward : f32 to f16
func.func @chain(%a: bf16, %b: bf16, %x: f32) -> (bf16, f16) {
  %p = arith.mulf %a, %b : bf16
  %q = arith.mulf %p, %b : bf16
  %h = arith.truncf %x downward : f32 to f16
  return %q, %h : bf16, f16
}
