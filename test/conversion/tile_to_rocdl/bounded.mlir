// Elements past the edge of memory with known strides: the hardware's bounds, not a branch. An access that is not wanted
// has an offset beyond them.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts{chip=gfx942}),convert-tile-to-rocdl{chip=gfx942})' | FileCheck %s
// RUN: %tile_translate %s --tile-to-amdgcn --chip=gfx942 | FileCheck %s --check-prefix=CODE
// RUN: %tile_translate %s --tile-to-amdgcn --chip=gfx1100 | FileCheck %s --check-prefix=CODE

// CHECK-LABEL: llvm.func @known
// CHECK-DAG: %[[FAR:.*]] = arith.constant -2147483648 : i32
// CHECK: %[[X:.*]] = rocdl.make.buffer.rsrc
// CHECK: %[[AT:.*]] = arith.select %{{.*}}, %{{.*}}, %[[FAR]] : i32
// CHECK: rocdl.raw.ptr.buffer.load %[[X]], %[[AT]]
// CHECK: rocdl.make.buffer.rsrc
// CHECK: rocdl.raw.ptr.buffer.store
// CODE-LABEL: known:
// CODE: buffer_load
// CODE-NOT: cbranch
// CODE: buffer_store
// CODE: s_endpgm
tile.kernel @known(%x: memref<77x83xf32>, %y: memref<77x83xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<77x83xf32> to !tile.view<16x128xf32>
  %Y = tile.view %y : memref<77x83xf32> to !tile.view<16x128xf32>
  %t = tile.load %X[%i, %c0] : !tile.view<16x128xf32> -> tensor<16x128xf32>
  %u = arith.addf %t, %t : tensor<16x128xf32>
  tile.store %u, %Y[%i, %c0] : tensor<16x128xf32>, !tile.view<16x128xf32>
  tile.return
}

// Rows that may lie any distance apart have no offset of 32 bits. What pads with another number than zero loads under
// a mask.
// CHECK-LABEL: llvm.func @unknown
// CHECK-NOT: rocdl.raw.ptr.buffer
// CHECK: llvm.intr.masked.load
// CHECK-NOT: rocdl.raw.ptr.buffer
// CHECK: llvm.return
tile.kernel @unknown(%x: memref<?x?xf32>, %z: memref<83xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x?xf32> to !tile.view<16x128xf32>
  %Z = tile.view %z : memref<83xf32> to !tile.view<128xf32, pad = nan>
  %t = tile.load %X[%i, %c0] : !tile.view<16x128xf32> -> tensor<16x128xf32>
  %r = tile.load %Z[%c0] : !tile.view<128xf32, pad = nan> -> tensor<128xf32>
  %b = tile.broadcast %r axes [0] : tensor<128xf32> -> tensor<16x128xf32>
  %u = arith.addf %t, %b : tensor<16x128xf32>
  tile.store %u, %X[%i, %c0] : tensor<16x128xf32>, !tile.view<16x128xf32>
  tile.return
}
