// RUN: %tile_opt %s --split-input-file --convert-gpu-launch-to-runtime -verify-diagnostics

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // expected-note @+1 {{the kernel is here}}
    llvm.func @k(%x: !llvm.ptr<1>) attributes {gpu.kernel} { llvm.return }
  }
  func.func @main(%x: memref<?xf32>, %n: index) {
    // expected-error @+1 {{gives 2 parameters (a memref is its address, dynamic sizes, dynamic strides) or 5 (a memref is upstream's descriptor), the kernel takes 1}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : memref<?xf32>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%x: memref<4xf32>) kernel { gpu.return }
  }
  func.func @main(%x: memref<4xf32>, %n: index) {
    // expected-error @+1 {{launches a kernel that is not an llvm.func yet: lower its gpu.module first}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : memref<4xf32>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @k(%x: vector<4xf32>) attributes {gpu.kernel} { llvm.return }
  }
  func.func @main(%x: vector<4xf32>, %n: index) {
    // expected-error @+1 {{gives the kernel a vector<4xf32>, expected memrefs with strides and scalars}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : vector<4xf32>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @k(%x: i32) attributes {gpu.kernel} { llvm.return }
  }
  func.func @main(%x: i32, %n: index) {
    %t = gpu.wait async
    // expected-error @+1 {{has tokens: launches run in the order of the program here}}
    gpu.launch_func [%t] @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : i32)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @k(%x: i32) attributes {gpu.kernel} { llvm.return }
  }
  func.func @main(%x: i32, %n: index) {
    // expected-error @+1 {{has clusters, which the runtime does not launch yet}}
    gpu.launch_func @kernels::@k clusters in (%n, %n, %n) blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : i32)
    return
  }
}
