// RUN: not tile-run %s --target=emulate:sm_80 2>&1 | FileCheck %s
// RUN: not tile-run %s --target=emulate:gfx942 2>&1 | FileCheck %s
// cf.assert in a kernel ends the program with its message and place.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @check(%no: i1, %yes: i1) kernel {
      %thread = gpu.thread_id x
      cf.assert %yes, "this holds"
      gpu.printf "thread %lld is here\n", %thread : index
      // CHECK-DAG: thread 0 is here
      // CHECK-DAG: {{.*}}assert.mlir:[[@LINE+1]]:7: error: {{.*}}this does not hold
      cf.assert %no, "this does not hold"
      gpu.printf "thread %lld is beyond\n", %thread : index
      // CHECK-NOT: beyond
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %no = arith.constant false
    %yes = arith.constant true
    gpu.launch_func @kernels::@check blocks in (%c1, %c1, %c1) threads in (%c2, %c1, %c1) args(%no : i1, %yes : i1)
    return
  }
}
