// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-stage-in-shared-memory))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-stage-in-shared-memory{asynchronous=false}))' | FileCheck %s --check-prefix=NOW
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-stage-in-shared-memory))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT

// Both operands of the loop's product share one wait and one sync; another sync keeps the copies behind the last round's
// readers. The buffers are swizzled for ldmatrix, A plain and B transposed, and free of bank conflicts.
// COUNT-DAG: 4 staged
// COUNT-DAG: 4 buffers
// COUNT-DAG: 32768 shared_bytes
// COUNT-DAG: 4 by_ldmatrix
// COUNT-DAG: 0 bank_conflicts
#acc = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:d1*64]>
#lhs = #tile.layout<reg [2:d1, 2:d0*8, 4:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:_]>
#rhs = #tile.layout<reg [2:d0, 4:d0*8, 8:d1*8], lane [4:d0*2, 8:d1], warp [2:_, 2:d1*64]>
#wideA = #tile.layout<reg [8:d1, 4:d0*32], lane [4:d1*8, 8:d0], warp [4:d0*8]>
#wideB = #tile.layout<reg [8:d1, 4:d0*8], lane [16:d1*8, 2:d0], warp [4:d0*2]>
// CHECK-DAG: #[[sa:.*]] = #tile.layout<offset [32:d1, 2:d0, 4:d0*2+d1*8, {{.*}}]>
// CHECK-DAG: #[[sb:.*]] = #tile.layout<offset [64:d1, 8:d0+d1*8, 2:d1*64, 4:d0*8]>
// CHECK-LABEL: tile.kernel @two_loops
// CHECK-COUNT-4: tile.alloc
// CHECK-NOT: tile.alloc
// CHECK: scf.for
// CHECK-NEXT: tile.sync
// CHECK-NEXT: %[[ta:.*]] = tile.copy_async {{.*}} to %[[A:.*]] : {{.*}}
// CHECK-NEXT: %[[tb:.*]] = tile.copy_async {{.*}} to %[[B:.*]] : {{.*}}
// CHECK-NEXT: tile.wait %[[ta]], %[[tb]]
// CHECK-NEXT: tile.sync
// CHECK-NEXT: %[[x:.*]] = tile.load %[[A]]
// CHECK-NEXT: %[[w:.*]] = tile.load %[[B]]
// CHECK-NEXT: tile.mma %[[x]], %[[w]]
// A second loop has buffers of its own, which later lie in the same memory.
// CHECK: scf.for
// CHECK-NOT: to %[[A]] :
// CHECK-COUNT-2: tile.copy_async
// CHECK-NOT: to %[[B]] :
// CHECK-NOT: convert_layout
//
// NOW-LABEL: tile.kernel @two_loops
// NOW: scf.for
// NOW-NEXT: tile.sync
// NOW-NEXT: %[[a:.*]] = tile.load
// NOW-NEXT: tile.store %[[a]], %[[A:[0-9]+]] :
// NOW-NEXT: %[[b:.*]] = tile.load
// NOW-NEXT: tile.store %[[b]], %[[B:[0-9]+]] :
// NOW-NEXT: tile.sync
// NOW-NEXT: %[[x:.*]] = tile.load %[[A]]
// NOW-NEXT: %[[w:.*]] = tile.load %[[B]]
// NOW-NEXT: tile.mma %[[x]], %[[w]]
tile.kernel @two_loops(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c: memref<?x?xf32>)
    attributes {machine = #tile.machine<"sm_80">, warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32, #acc>
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x32xf16>
  %B = tile.view %b : memref<?x?xf16> to !tile.view<32x128xf16>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<128x128xf32>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x32xf16>
  %r = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %zero) -> (tensor<128x128xf32, #acc>) {
    %x0 = tile.load %A[%c0, %k] : !tile.view<128x32xf16> -> tensor<128x32xf16, #wideA>
    %x = tile.convert_layout %x0 : tensor<128x32xf16, #wideA> -> tensor<128x32xf16, #lhs>
    %w0 = tile.load %B[%k, %c0] : !tile.view<32x128xf16> -> tensor<32x128xf16, #wideB>
    %w = tile.convert_layout %w0 : tensor<32x128xf16, #wideB> -> tensor<32x128xf16, #rhs>
    %m = tile.mma %x, %w, %s atom "mma.sync.m16n8k16" : tensor<128x32xf16, #lhs>, tensor<32x128xf16, #rhs> -> tensor<128x128xf32, #acc>
    scf.yield %m : tensor<128x128xf32, #acc>
  }
  %q = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %r) -> (tensor<128x128xf32, #acc>) {
    %x0 = tile.load %A[%c1, %k] : !tile.view<128x32xf16> -> tensor<128x32xf16, #wideA>
    %x = tile.convert_layout %x0 : tensor<128x32xf16, #wideA> -> tensor<128x32xf16, #lhs>
    %w0 = tile.load %B[%k, %c1] : !tile.view<32x128xf16> -> tensor<32x128xf16, #wideB>
    %w = tile.convert_layout %w0 : tensor<32x128xf16, #wideB> -> tensor<32x128xf16, #rhs>
    %m = tile.mma %x, %w, %s atom "mma.sync.m16n8k16" : tensor<128x32xf16, #lhs>, tensor<32x128xf16, #rhs> -> tensor<128x128xf32, #acc>
    scf.yield %m : tensor<128x128xf32, #acc>
  }
  tile.store %q, %C[%c0, %c0] : tensor<128x128xf32, #acc>, !tile.view<128x128xf32>
  tile.return
}

// -----

// Not an operand of a product, loaded for more than one use, or computed first: these stay as they are.
#rows = #tile.layout<reg [8:d1], lane [2:d1*8, 16:d0]>
#lhs = #tile.layout<reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]>
#rhs = #tile.layout<reg [2:d0, 2:d0*8, 2:d1*8], lane [4:d0*2, 8:d1]>
#acc = #tile.layout<reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]>
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: tile.alloc
// CHECK-COUNT-3: tile.convert_layout
tile.kernel @others(%a: memref<16x16xf16>, %c: memref<16x16xf32>)
    attributes {machine = #tile.machine<"sm_80">, warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #acc>
  %A = tile.view %a : memref<16x16xf16> to !tile.view<16x16xf16>
  %C = tile.view %c : memref<16x16xf32> to !tile.view<16x16xf32>
  %x0 = tile.load %A[%c0, %c0] : !tile.view<16x16xf16> -> tensor<16x16xf16, #rows>
  %y0 = arith.addf %x0, %x0 : tensor<16x16xf16, #rows>
  %x = tile.convert_layout %x0 : tensor<16x16xf16, #rows> -> tensor<16x16xf16, #lhs>
  %y = tile.convert_layout %y0 : tensor<16x16xf16, #rows> -> tensor<16x16xf16, #rhs>
  %m = tile.mma %x, %y, %zero atom "mma.sync.m16n8k16" : tensor<16x16xf16, #lhs>, tensor<16x16xf16, #rhs> -> tensor<16x16xf32, #acc>
  %z = tile.load %C[%c0, %c0] : !tile.view<16x16xf32> -> tensor<16x16xf32, #rows>
  %w = tile.convert_layout %z : tensor<16x16xf32, #rows> -> tensor<16x16xf32, #acc>
  %n = arith.addf %m, %w : tensor<16x16xf32, #acc>
  tile.store %n, %C[%c0, %c0] : tensor<16x16xf32, #acc>, !tile.view<16x16xf32>
  tile.return
}
