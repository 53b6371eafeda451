// What CUDA C++, HIP and C cannot say is refused, by op and reason.
// RUN: not tile-translate %s --tile-to-cuda-source 2>&1 | FileCheck %s
// RUN: not tile-translate %s --tile-to-hip-source 2>&1 | FileCheck %s --check-prefix=HIP
// RUN: not tile-translate %s --tile-to-c-source 2>&1 | FileCheck %s --check-prefix=C
// RUN: not tile-translate %s --tile-to-c-source --chip=sm_80 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not tile-translate %s --tile-to-cuda-source --chip=gfx942 2>&1 | FileCheck %s --check-prefix=CHIP
// CHECK: refused.mlir:[[@LINE+8]]:{{[0-9]+}}: error: 'math.ctpop' op cannot be written in CUDA C++: it has no words
// CHECK: tile-translate: error: the program cannot be written in CUDA C++
// HIP: 'math.ctpop' op cannot be written in HIP
// C: 'math.ctpop' op cannot be written in C: it has no words
// CPU: unknown CPU 'sm_80'; known:{{.*}} x86-64-v4
// CHIP: unknown NVIDIA chip 'gfx942'
func.func @main(%x: tensor<64xi32>) -> tensor<64xi32> {
  %y = math.absi %x : tensor<64xi32>
  %z = math.ctpop %y : tensor<64xi32>
  return %z : tensor<64xi32>
}
