// What CUDA C++ cannot say is refused, by op and reason.
// RUN: not tile-translate %s --tile-to-cuda-source 2>&1 | FileCheck %s
// RUN: not tile-translate %s --tile-to-hip-source 2>&1 | FileCheck %s --check-prefix=HIP
// RUN: not tile-translate %s --tile-to-cuda-source --chip=gfx942 2>&1 | FileCheck %s --check-prefix=CHIP
// CHECK: refused.mlir:[[@LINE+6]]:{{[0-9]+}}: error: 'math.ctpop' op cannot be written in CUDA C++: it has no words
// CHECK: tile-translate: error: the program cannot be written in CUDA C++
// HIP: 'math.ctpop' op cannot be written in HIP
// CHIP: unknown NVIDIA chip 'gfx942'
func.func @main(%x: tensor<64xi32>) -> tensor<64xi32> {
  %y = math.absi %x : tensor<64xi32>
  %z = math.ctpop %y : tensor<64xi32>
  return %z : tensor<64xi32>
}
