// RUN: not tile-run %s 2>&1 | FileCheck %s
// A kernel for a GPU is no code for the CPU.
func.func @main() {
  %c1 = arith.constant 1 : index
  // CHECK: on_the_cpu.mlir:[[@LINE+1]]:3: error: 'gpu.launch' op runs on a GPU: choose --target=emulate:CHIP, cuda or rocm
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  return
}
