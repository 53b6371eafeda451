// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(convert-gpu-reduce-to-threads))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --pass-pipeline='builtin.module(gpu.module(convert-gpu-reduce-to-threads))' | FileCheck %s

// As much memory as the block has threads; a barrier before each round, and after the last one.
// CHECK: memref.global "private" @reduce_block_0 : memref<64xf32, #gpu.address_space<workgroup>>
// CHECK-LABEL: gpu.func @named
// CHECK: memref.get_global @reduce_block_0
// CHECK: memref.store %arg0
// CHECK: gpu.barrier
// CHECK: scf.while
// CHECK: scf.if
// CHECK: arith.maximumf
// CHECK: gpu.barrier
// CHECK: memref.load
// CHECK: gpu.barrier
// CHECK-NOT: gpu.all_reduce
gpu.module @kernels {
  gpu.func @named(%x: f32, %out: memref<f32>) kernel attributes {known_block_size = array<i32: 32, 2, 1>} {
    %r = gpu.all_reduce maximumf %x uniform {} : (f32) -> (f32)
    memref.store %r, %out[] : memref<f32>
    gpu.return
  }
}

// -----

// A region's ops stand where the named op would; a block of unknown size has at most 1024 threads.
// CHECK: memref.global "private" @reduce_block_0 : memref<1024xi32, #gpu.address_space<workgroup>>
// CHECK-LABEL: gpu.func @region
// CHECK: %[[a:.*]] = memref.load
// CHECK: %[[b:.*]] = memref.load
// CHECK: %[[double:.*]] = arith.addi %[[b]], %[[b]]
// CHECK: arith.subi %[[a]], %[[double]]
gpu.module @kernels {
  gpu.func @region(%x: i32, %out: memref<i32>) kernel {
    %r = gpu.all_reduce %x uniform {
    ^bb(%a: i32, %b: i32):
      %double = arith.addi %b, %b : i32
      %c = arith.subi %a, %double : i32
      "gpu.yield"(%c) : (i32) -> ()
    } : (i32) -> (i32)
    memref.store %r, %out[] : memref<i32>
    gpu.return
  }
}

// -----

// Where not all threads may take part, there can be no barrier.
// CHECK-LABEL: gpu.func @not_uniform
// CHECK: gpu.all_reduce
gpu.module @kernels {
  gpu.func @not_uniform(%x: i32, %out: memref<i32>) kernel {
    %r = gpu.all_reduce add %x {} : (i32) -> (i32)
    memref.store %r, %out[] : memref<i32>
    gpu.return
  }
}
