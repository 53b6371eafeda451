// RUN: %tile_opt %s --split-input-file --convert-gpu-memory-to-host | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --pass-pipeline='builtin.module(convert-gpu-memory-to-host)' | FileCheck %s

// Tokens go, in whatever order they were asked for; the launch keeps one that nobody waits for.
// CHECK-LABEL: func.func @tokens
// CHECK-SAME: (%[[host:.*]]: memref<?xf32>, %[[n:.*]]: index, %[[x:.*]]: f32)
// CHECK: %[[a:.*]] = memref.alloc(%[[n]]) : memref<?xf32>
// CHECK-NEXT: memref.copy %[[host]], %[[a]]
// CHECK-NEXT: linalg.fill ins(%[[x]] : f32) outs(%[[a]] : memref<?xf32>)
// CHECK-NEXT: gpu.launch_func async @kernels::@k blocks in (%[[n]], %[[n]], %[[n]]) threads in (%[[n]], %[[n]], %[[n]]) args(%[[a]] : memref<?xf32>)
// CHECK-NEXT: memref.copy %[[a]], %[[host]]
// CHECK-NEXT: memref.dealloc %[[a]]
// CHECK-NEXT: return
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%x: memref<?xf32>) kernel { gpu.return }
  }
  func.func @tokens(%host: memref<?xf32>, %n: index, %x: f32) {
    %t0 = gpu.wait async
    %a, %t1 = gpu.alloc async [%t0] (%n) : memref<?xf32>
    %t2 = gpu.memcpy async [%t1] %a, %host : memref<?xf32>, memref<?xf32>
    %t3 = gpu.memset async [%t0, %t2] %a, %x : memref<?xf32>, f32
    %t4 = gpu.launch_func async [%t3] @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : memref<?xf32>)
    %t5 = gpu.memcpy async [%t4] %host, %a : memref<?xf32>, memref<?xf32>
    gpu.wait [%t5]
    gpu.dealloc %a : memref<?xf32>
    return
  }
}

// -----

// A task stands where it was started; its value is its own.
// CHECK-LABEL: func.func @tasks
// CHECK-SAME: (%[[x:.*]]: memref<4xf32>)
// CHECK: %[[a:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: memref.copy %[[x]], %[[a]]
// CHECK-NEXT: memref.copy %[[a]], %[[x]]
// CHECK-NEXT: return %[[a]]
func.func @tasks(%x: memref<4xf32>) -> memref<4xf32> {
  %t0, %f0 = async.execute () -> !async.value<memref<4xf32>> {
    %a = gpu.alloc () : memref<4xf32>
    gpu.memcpy %a, %x : memref<4xf32>, memref<4xf32>
    async.yield %a : memref<4xf32>
  }
  %t1 = async.execute [%t0] (%f0 as %a : !async.value<memref<4xf32>>) {
    gpu.memcpy %x, %a : memref<4xf32>, memref<4xf32>
    async.yield
  }
  async.await %t1 : !async.token
  %a = async.await %f0 : !async.value<memref<4xf32>>
  return %a : memref<4xf32>
}

// -----

// CHECK-LABEL: func.func @registered
// CHECK-NEXT: return %arg1
func.func private @mgpuMemGetDeviceMemRef1dFloat(memref<?xf32>) -> memref<?xf32>
func.func @registered(%x: memref<*xf32>, %y: memref<?xf32>) -> memref<?xf32> {
  gpu.host_register %x : memref<*xf32>
  %d = call @mgpuMemGetDeviceMemRef1dFloat(%y) : (memref<?xf32>) -> memref<?xf32>
  gpu.host_unregister %x : memref<*xf32>
  return %d : memref<?xf32>
}

// -----

// Nothing of the dialect: nothing changes.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT: memref.copy
// CHECK-NEXT: return
func.func @plain(%x: memref<4xf32>, %y: memref<4xf32>) {
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return
}
