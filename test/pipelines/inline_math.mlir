// Compiled for the CPU, elementary functions of f32 are arithmetic: no libm symbol, no intrinsic that becomes one.
// RUN: %tile_opt %s --tile-to-cpu-pipeline=chip=haswell | FileCheck %s
// CHECK-NOT: {{(llvm.intr.|@)(exp|tanh|erf|log|sin|cos|pow)}}
// CHECK: llvm.intr.fma{{.*}}f64
// CHECK-NOT: {{(llvm.intr.|@)(exp|tanh|erf|log|sin|cos|pow)}}
// With `fast` exp, tanh and erf are f32's own arithmetic, without tables; so is one that has the flag itself.
// RUN: %tile_opt %s "--tile-to-cpu-pipeline=fast=true chip=haswell" | FileCheck %s --check-prefix=FAST
// FAST-NOT: {{(llvm.intr.|@)(exp|tanh|erf|log|sin|cos|pow)}}
// FAST-NOT: f64
// FAST: llvm.intr.fma{{.*}}f32
// FAST-NOT: {{f64|(llvm.intr.|@)(exp|tanh|erf|log|sin|cos|pow)}}
// RUN: sed -e '/^[/][/]/d' -e 's/math.exp %a/math.exp %a fastmath<afn>/' -e '/tanh\|erf\|exp2/d' -e 's/yield %3/yield %0/' %s | %tile_opt --tile-to-cpu-pipeline | FileCheck %s --check-prefix=FAST
func.func @main(%x: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>) {
  ^body(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    %1 = math.tanh %0 : f32
    %2 = math.erf %1 : f32
    %3 = math.exp2 %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
