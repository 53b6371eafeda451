// Kernels that upstream's own passes lowered, by its two conventions: descriptors and bare pointers.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(gpu-kernel-outlining,gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm,reconcile-unrealized-casts))' -o %t.descriptors.mlir
// RUN: tile-run %t.descriptors.mlir --target=emulate:sm_80 | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(gpu-kernel-outlining,gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm{use-bare-ptr-memref-call-conv=true},reconcile-unrealized-casts))' -o %t.bare.mlir
// RUN: tile-run %t.bare.mlir --target=emulate:sm_80 | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(gpu-kernel-outlining,gpu.module(convert-scf-to-cf,convert-gpu-to-rocdl{chipset=gfx942 index-bitwidth=32},reconcile-unrealized-casts))' -o %t.amd.mlir
// RUN: tile-run %t.amd.mlir --target=emulate:gfx942 | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(gpu-kernel-outlining,gpu.module(convert-scf-to-cf,convert-gpu-to-rocdl{chipset=gfx942 use-bare-ptr-memref-call-conv=true},reconcile-unrealized-casts))' -o %t.amd_bare.mlir
// RUN: tile-run %t.amd_bare.mlir --target=emulate:gfx942 | FileCheck %s
func.func private @printMemrefF32(memref<*xf32>)
func.func @add(%x : memref<5xf32>, %y : memref<5xf32>, %z : memref<5xf32>, %limit : index) {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c5, %sy = %c1, %sz = %c1) {
    %isInside = arith.cmpi ult, %tx, %limit : index
    scf.if %isInside {
      %a = memref.load %x[%tx] : memref<5xf32>
      %b = memref.load %y[%tx] : memref<5xf32>
      %c = arith.addf %a, %b : f32
      memref.store %c, %z[%tx] : memref<5xf32>
    }
    gpu.terminator
  }
  return
}
func.func @main() {
  %c4 = arith.constant 4 : index
  %v = arith.constant 1.25 : f32
  %x = memref.alloc() : memref<5xf32>
  %z = memref.alloc() : memref<5xf32>
  linalg.fill ins(%v : f32) outs(%x : memref<5xf32>)
  linalg.fill ins(%v : f32) outs(%z : memref<5xf32>)
  call @add(%x, %x, %z, %c4) : (memref<5xf32>, memref<5xf32>, memref<5xf32>, index) -> ()
  %all = memref.cast %z : memref<5xf32> to memref<*xf32>
  // CHECK: [2.5,  2.5,  2.5,  2.5,  1.25]
  call @printMemrefF32(%all) : (memref<*xf32>) -> ()
  return
}
