// RUN: %tile_opt %s --split-input-file --convert-gpu-launch-to-runtime | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --pass-pipeline='builtin.module(convert-gpu-launch-to-runtime)' | FileCheck %s

// Slots stand at the entry, not in the loop. A memref is its address with the offset, dynamic sizes, dynamic strides of
// one that is not contiguous; an i1 and a float of 8 bits are bytes.
// CHECK: llvm.mlir.global internal constant @tessera_kernel_k("k\00")
// CHECK: llvm.mlir.global internal constant @tessera_module_kernels("kernels\00")
// CHECK: llvm.func @tessera_device_finish()
// CHECK: llvm.func @tessera_device_synchronize()
// CHECK: llvm.func @tessera_launch_device(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64)
// CHECK: llvm.mlir.global internal @tessera_device_images(#llvm.zero)
// CHECK-LABEL: func.func @main
// CHECK: llvm.alloca
// CHECK: scf.for
// CHECK-NOT: llvm.alloca
// CHECK-NOT: tessera_device_synchronize
// CHECK: %{{.*}}, %[[offset:.*]], %[[sizes:.*]]:2, %[[strides:.*]]:2 = memref.extract_strided_metadata %arg0
// CHECK: memref.extract_aligned_pointer_as_index %arg0
// CHECK: arith.muli %[[offset]], %c4
// CHECK: arith.index_cast %[[sizes]]#0 : index to i64
// CHECK: arith.index_cast %[[strides]]#0 : index to i64
// CHECK-NOT: arith.index_cast %[[strides]]#1
// CHECK: arith.extui %arg1 : i1 to i8
// CHECK: arith.bitcast %arg2 : f8E5M2 to i8
// CHECK: %[[count:.*]] = arith.constant 5 : i64
// CHECK: llvm.call @tessera_launch_device(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[count]])
// CHECK-NOT: gpu.launch_func
// CHECK: llvm.call @tessera_device_finish()
// CHECK-NEXT: return
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @k(%x: !llvm.ptr<1>, %n: i64, %s: i64, %b: i8, %f: i8) attributes {gpu.kernel} { llvm.return }
  }
  func.func @main(%x: memref<?x4xf32, strided<[?, 1], offset: ?>>, %b: i1, %f: f8E5M2, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%n, %c1, %c1)
        args(%x : memref<?x4xf32, strided<[?, 1], offset: ?>>, %b : i1, %f : f8E5M2)
    }
    return
  }
}

// -----

// The host waits once before it reads what a kernel wrote, not again until the next launch, and before a loop of
// accesses, not in it. Allocating, freeing and asking for sizes is no access.
// CHECK-LABEL: func.func @order
// CHECK: llvm.call @tessera_launch_device
// CHECK: memref.dim
// CHECK: llvm.call @tessera_device_synchronize()
// CHECK-NEXT: memref.load
// CHECK-NOT: tessera_device_synchronize
// CHECK: memref.load
// CHECK: llvm.call @tessera_launch_device
// CHECK: memref.dealloc
// CHECK: llvm.call @tessera_device_synchronize()
// CHECK-NEXT: scf.for
// CHECK-NOT: tessera_device_synchronize
// CHECK: return
// What a private function launched is waited for where it matters: after the call.
// CHECK-LABEL: func.func private @helper
// CHECK-NOT: tessera_device_synchronize
// CHECK: return
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @k(%x: !llvm.ptr<1>, %n: i64) attributes {gpu.kernel} { llvm.return }
  }
  func.func @order(%x: memref<?xf32>, %y: memref<?xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = memref.alloc(%c1) : memref<?xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<?xf32>)
    %n = memref.dim %x, %c0 : memref<?xf32>
    %a = memref.load %x[%c0] : memref<?xf32>
    %b = memref.load %x[%c1] : memref<?xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%t : memref<?xf32>)
    memref.dealloc %t : memref<?xf32>
    scf.for %i = %c0 to %n step %c1 {
      memref.store %b, %y[%i] : memref<?xf32>
    }
    return %a : f32
  }
  func.func private @helper(%x: memref<?xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<?xf32>)
    return
  }
}

// -----

// Who calls an entry must know whether the host touches memory of its arguments: itself, behind a view that a loop
// carries, or by a function that it calls. Memory of its own, sizes and addresses do not count.
// CHECK-LABEL: func.func @untouched
// CHECK-NOT: tile.host_access
// CHECK-LABEL: func.func @copied
// CHECK-SAME: attributes {tile.host_access}
// CHECK-LABEL: func.func @carried
// CHECK-SAME: attributes {tile.host_access}
// CHECK-LABEL: func.func @called
// CHECK-SAME: attributes {tile.host_access}
// CHECK-LABEL: func.func @calls_stranger
// CHECK-SAME: attributes {tile.host_access}
// CHECK: func.func private @first(%{{.*}}: memref<?xf32>) -> f32 {{[{]$}}
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @k(%x: !llvm.ptr<1>, %n: i64) attributes {gpu.kernel} { llvm.return }
  }
  func.func @untouched(%x: memref<?xf32>) -> (index, memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %t = memref.alloc(%n) : memref<?xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<?xf32>)
    %a = memref.load %t[%c0] : memref<?xf32>
    memref.store %a, %t[%c1] : memref<?xf32>
    %at = memref.extract_aligned_pointer_as_index %x : memref<?xf32> -> index
    %f = func.call @first(%t) : (memref<?xf32>) -> f32
    return %at, %t : index, memref<?xf32>
  }
  func.func @copied(%x: memref<?xf32>, %n: index) -> memref<?xf32> {
    %t = memref.alloc(%n) : memref<?xf32>
    memref.copy %x, %t : memref<?xf32> to memref<?xf32>
    return %t : memref<?xf32>
  }
  func.func @carried(%x: memref<8xf32>, %y: memref<8xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %t = memref.alloc() : memref<4xf32>
    %v = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
    %u = memref.cast %v : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32, strided<[1], offset: ?>>
    %w = memref.cast %t : memref<4xf32> to memref<4xf32, strided<[1], offset: ?>>
    %p, %q = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %w, %b = %u)
        -> (memref<4xf32, strided<[1], offset: ?>>, memref<4xf32, strided<[1], offset: ?>>) {
      scf.yield %b, %a : memref<4xf32, strided<[1], offset: ?>>, memref<4xf32, strided<[1], offset: ?>>
    }
    %f = memref.load %p[%c0] : memref<4xf32, strided<[1], offset: ?>>
    return %f : f32
  }
  func.func @called(%x: memref<?xf32>) -> f32 {
    %f = func.call @first(%x) : (memref<?xf32>) -> f32
    return %f : f32
  }
  func.func @calls_stranger(%x: memref<?xf32>) {
    func.call @stranger(%x) : (memref<?xf32>) -> ()
    return
  }
  func.func private @stranger(memref<?xf32>)
  func.func private @first(%x: memref<?xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %f = memref.load %x[%c0] : memref<?xf32>
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<?xf32>)
    return %f : f32
  }
}

// -----

// Without a launch nothing is declared and nothing waits.
// CHECK-LABEL: func.func @no_launch
// CHECK-NOT: tessera
func.func @no_launch(%x: memref<?xf32>, %i: index) -> f32 {
  %a = memref.load %x[%i] : memref<?xf32>
  return %a : f32
}

// -----

// The alignment promised for an address is asserted before a kernel relies on it.
// CHECK-LABEL: func.func @aligned(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>
// CHECK-NOT: memref.assume_alignment
// CHECK: %[[AT:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %{{.*}} : index
// CHECK: %[[IS:.*]] = arith.cmpi eq, %[[REST]], %{{.*}} : index
// CHECK: cf.assert %[[IS]], "argument #0 begins at an address that is not a multiple of 16"
// CHECK: memref.extract_strided_metadata %{{.*}} : memref<4xf32, strided<[1], offset: ?>>
// CHECK: cf.assert %{{.*}}, "the buffer begins at an address that is not a multiple of 8"
// CHECK: return %[[X]]
func.func @aligned(%x: memref<?xf32>, %i: index) -> memref<?xf32> {
  %a = memref.assume_alignment %x, 16 : memref<?xf32>
  %s = memref.subview %x[%i] [4] [1] : memref<?xf32> to memref<4xf32, strided<[1], offset: ?>>
  %b = memref.assume_alignment %s, 8 : memref<4xf32, strided<[1], offset: ?>>
  return %a : memref<?xf32>
}

// -----

// A kernel that upstream lowered takes descriptors, and an index as wide as it was told.
// CHECK-LABEL: func.func @descriptors
// CHECK: %[[offset:.*]], %[[sizes:.*]] = memref.extract_strided_metadata %arg0
// CHECK: memref.extract_aligned_pointer_as_index %arg0
// CHECK: arith.index_cast %arg1 : index to i32
// CHECK: %[[count:.*]] = arith.constant 6 : i64
// CHECK: llvm.call @tessera_launch_device(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[count]])
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @k(%a: !llvm.ptr, %b: !llvm.ptr, %o: i64, %n: i64, %s: i64, %i: i32) attributes {gpu.kernel} { llvm.return }
  }
  func.func @descriptors(%x: memref<?xf32>, %n: index) {
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : memref<?xf32>, %n : index)
    return
  }
}
