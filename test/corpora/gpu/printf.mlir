// RUN: tile-run %s --target=emulate:sm_80 | FileCheck %s
// RUN: tile-run %s --target=emulate:gfx942 | FileCheck %s
// gpu.printf in a kernel written as gpu.func.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @greet() kernel {
      %thread = gpu.thread_id x
      %small = arith.constant 2 : i8
      %real = arith.constant 3.5 : f32
      gpu.printf "thread %lld, %d, %f\n", %thread, %small, %real : index, i8, f32
      gpu.return
    }
  }
  // CHECK: thread 0, 2, 3.500000
  // CHECK: thread 1, 2, 3.500000
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    gpu.launch_func @kernels::@greet blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1)
    return
  }
}
