// What the emulator does not know is refused by name, every op of it, before anything runs.
// RUN: not %tile_run %s --target=emulate:sm_80 2>&1 | FileCheck %s
// RUN: not %tile_run %s --target=emulate:x86-64-v3 2>&1 | FileCheck %s --check-prefix=NO-GPU
// RUN: not %tile_run %s --target=emulate:sm_1 2>&1 | FileCheck %s --check-prefix=NO-CHIP
// NO-GPU: emulate:x86-64-v3: is not a GPU
// NO-CHIP: emulate:sm_1: {{.*}}sm_80
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @mystery(i32) -> i32
    llvm.func @k(%x: !llvm.ptr<1>, %m: i32) attributes {gpu.kernel} {
      %taddr = llvm.mlir.zero : !llvm.ptr<6>
      // CHECK: unknown.mlir:[[#@LINE+1]]:{{.*}} 'nvvm.tcgen05.shift' op is not known to the emulator
      nvvm.tcgen05.shift %taddr : !llvm.ptr<6>
      // CHECK: unknown.mlir:[[#@LINE+1]]:{{.*}} 'llvm.call' op calls 'mystery', which the emulator does not know
      %a = llvm.call @mystery(%m) : (i32) -> i32
      // CHECK: unknown.mlir:[[#@LINE+1]]:{{.*}} 'llvm.inline_asm' op is not known to the emulator: "brkpt;"
      llvm.inline_asm has_side_effects "brkpt;", "" : () -> ()
      // CHECK: unknown.mlir:[[#@LINE+1]]:{{.*}} 'llvm.call_intrinsic' op is not known to the emulator: "llvm.nvvm.barrier0"
      llvm.call_intrinsic "llvm.nvvm.barrier0"() : () -> ()
      llvm.return
    }
  }
  func.func @main(%x: memref<4xf32>, %m: i32) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>, %m : i32)
    return
  }
}
// CHECK: tile-run: error: the kernel cannot be emulated
