// The pass by both tools, its option, what it counts; and the answers of the program before and after other passes.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(poly-expand))' --tile-pass-statistics 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=COUNTS < %t
// RUN: %mlir_opt %s --pass-pipeline='builtin.module(func.func(poly-expand{fma=true}))' | FileCheck %s --check-prefix=FMA
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(poly-expand),tile-to-cpu-pipeline)' \
// RUN:   --tile-validate-each -o /dev/null 2>&1 | FileCheck %s --check-prefix=JUDGED

// CHECK-LABEL: func.func @main
// CHECK-NOT: poly.horner
// CHECK: %[[P:.*]] = arith.mulf %{{.*}}, %[[X:.*]] : f32
// CHECK: %[[S:.*]] = arith.addf %[[P]], %{{.*}} : f32
// CHECK: %[[Q:.*]] = arith.mulf %[[S]], %[[X]] : f32
// CHECK: arith.addf %[[Q]], %{{.*}} : f32
// COUNTS: poly-expand: 1 expanded: polynomials written out
// COUNTS: poly-expand: 2 steps: multiplications
// FMA-COUNT-2: math.fma
// FMA-NOT: arith.mulf
// JUDGED: passes validated on 'main' with seed 0
func.func @main(%x: tensor<7x5xf32>) -> tensor<7x5xf32> {
  %e = tensor.empty() : tensor<7x5xf32>
  %y = linalg.map ins(%x : tensor<7x5xf32>) outs(%e : tensor<7x5xf32>) (%a: f32, %unused: f32) {
    %p = poly.horner %a by [1.0, 2.0, 0.5] : f32
    linalg.yield %p : f32
  }
  return %y : tensor<7x5xf32>
}

// Nothing to do is no failure.
// CHECK-LABEL: func.func @without
func.func @without() {
  return
}
