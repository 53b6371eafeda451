// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(convert-gpu-reports-to-llvm))' -verify-diagnostics

gpu.module @kernels {
  gpu.func @print(%a: i8) kernel {
    // expected-error @+1 {{has 1 values, expected one for each conversion of its format}}
    gpu.printf "%d %d", %a : i8
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @print(%a: i128) kernel {
    // expected-error @+1 {{prints a value that is no number of up to 64 bits}}
    gpu.printf "%d", %a : i128
    gpu.return
  }
}
