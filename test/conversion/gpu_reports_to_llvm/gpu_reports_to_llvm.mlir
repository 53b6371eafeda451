// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(convert-gpu-reports-to-llvm))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --pass-pipeline='builtin.module(gpu.module(convert-gpu-reports-to-llvm))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(convert-gpu-reports-to-llvm{private-space=5}))' | FileCheck %s --check-prefix=SPACE

// Every value has eight bytes: an integer is signed as its conversion says.
// CHECK-DAG: llvm.mlir.global internal constant @text_0("%lld %-3llx 100%% %.2f\0A\00")
// CHECK-DAG: llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
// CHECK-LABEL: gpu.func @print
// CHECK: arith.extsi %arg0 : i8 to i64
// CHECK: arith.extui %arg1 : i16 to i64
// CHECK: arith.extf %arg2 : f32 to f64
// CHECK: llvm.alloca %{{.*}} x !llvm.array<3 x i64> {alignment = 8 : i64} : (i32) -> !llvm.ptr
// CHECK: llvm.call @vprintf
// SPACE: llvm.alloca {{.*}} -> !llvm.ptr<5>
// SPACE-NEXT: llvm.addrspacecast %{{.*}} : !llvm.ptr<5> to !llvm.ptr
gpu.module @kernels {
  gpu.func @print(%a: i8, %b: i16, %c: f32) kernel {
    gpu.printf "%hhd %-3x 100%% %.2f\n", %a, %b, %c : i8, i16, f32
    gpu.return
  }
}

// -----

// CHECK-LABEL: gpu.func @assert
// CHECK: %[[wrong:.*]] = arith.xori %arg0, %true
// CHECK: scf.if %[[wrong]] {
// CHECK: llvm.call @__assertfail
// CHECK-NOT: cf.assert
gpu.module @kernels {
  gpu.func @assert(%holds: i1) kernel {
    cf.assert %holds, "it holds"
    gpu.return
  }
}
