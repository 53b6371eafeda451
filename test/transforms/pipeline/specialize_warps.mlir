// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-specialize-warps{chip=sm_90a},canonicalize))' | FileCheck %s
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-specialize-warps{chip=sm_90a stages=2},canonicalize))' | FileCheck %s --check-prefix=TWO
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-specialize-warps{chip=sm_80},canonicalize))' | FileCheck %s --check-prefix=NONE
// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-specialize-warps{chip=sm_90a}))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=COUNT

// COUNT-DAG: 3 specialized
// COUNT-DAG: 1 stores
// NONE-NOT: tile.warp_specialize
// TWO: tile.alloc : !tile.barrier<2>

// One group of warps loads, two multiply rows of 64 each. Five stages of 32 KiB fit beside the result.
// CHECK-DAG: #[[LEFT:.*]] = #tile.layout<offset [64:d1, 8:d0+d1*8, 16:d0*8]>
// CHECK-DAG: #[[RIGHT:.*]] = #tile.layout<offset [64:d1, 8:d0+d1*8, 8:d0*8, 2:d1*64]>
// CHECK-DAG: #[[OUT:.*]] = #tile.layout<offset [64:d1, 8:d0+d1*8, 16:d0*8, 2:d1*64]>
// CHECK-DAG: !tile.buffer<128x64xf16, #[[LEFT]], shared, stages = 5>
// CHECK-DAG: !tile.buffer<64x128xf16, #[[RIGHT]], shared, stages = 5>
// CHECK-DAG: !tile.buffer<128x128xf16, #[[OUT]], shared>
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: warps = 12
// CHECK: %[[X:.*]] = tile.alloc
// CHECK: %[[Y:.*]] = tile.alloc
// CHECK: %[[Z:.*]] = tile.alloc
// CHECK: %[[FULL:.*]] = tile.alloc : !tile.barrier<5>
// CHECK: %[[EMPTY:.*]] = tile.alloc : !tile.barrier<5>
// CHECK: tile.warp_specialize
// CHECK: partition "load" warps(4) registers(40) {
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: %[[BEFORE:.*]] = arith.subi %[[K]], %c5
// CHECK: tile.barrier_wait %[[EMPTY]][%[[BEFORE]]]
// CHECK: tile.barrier_arrive %[[FULL]][%[[K]]] expect 32768
// CHECK: tile.copy_async %{{.*}}[%{{.*}}, %[[K]]] to %{{.*}} engine "tma" signals %[[FULL]][%[[K]]]
// CHECK: tile.copy_async %{{.*}}[%[[K]], %{{.*}}] to %{{.*}} engine "tma" signals %[[FULL]][%[[K]]]
// CHECK: partition "multiply" warps(8) registers(232) {
// CHECK: scf.for %[[N:.*]] = %{{.*}} iter_args(%[[SUMS:.*]] = %{{.*}}) -> (tensor<128x128xf32>) {
// CHECK: tile.barrier_wait %[[FULL]][%[[N]]]
// CHECK: %[[U:.*]] = tile.mma_async %{{.*}}, %{{.*}}, %[[SUMS]] atom "wgmma.m64n128k16"
// CHECK: %[[V:.*]] = tile.mma_wait %[[U]] pending 1
// CHECK: %[[LAST:.*]] = arith.subi %[[N]], %c1
// CHECK: tile.barrier_arrive %[[EMPTY]][%[[LAST]]]
// CHECK: scf.yield %[[V]]
// CHECK: %[[DONE:.*]] = tile.mma_wait %{{.*}} pending 0
// CHECK: %[[H:.*]] = arith.truncf %[[DONE]]
// CHECK: tile.store %[[H]], %[[Z]]
// CHECK-NEXT: tile.fence async
// CHECK-NEXT: tile.sync
// CHECK-NEXT: %[[T:.*]] = tile.copy_async %[[Z]] to %{{.*}} engine "tma"
// CHECK-NEXT: tile.wait %[[T]]
tile.kernel @product(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x64xf16>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x64xf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<128x128xf32>) {
    %B = tile.view %b : memref<?x?xf16> to !tile.view<64x128xf16>
    %x = tile.load %A[%i, %k] : !tile.view<128x64xf16> -> tensor<128x64xf16>
    %y = tile.load %B[%k, %j] : !tile.view<64x128xf16> -> tensor<64x128xf16>
    %u = tile.mma %x, %y, %t : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %u : tensor<128x128xf32>
  }
  %h = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
  tile.return
}

// -----

// 64 rows: one group multiplies, registers stay as they are, and shared memory is left for another block. The rows of the result are no multiples of 16 bytes: its
// tile is stored by the threads.
// CHECK-LABEL: tile.kernel @narrow
// CHECK-SAME: warps = 8
// CHECK: tile.alloc : !tile.barrier<6>
// CHECK: partition "load" warps(4) {
// CHECK: partition "multiply" warps(4) {
// CHECK: tile.mma_async {{.*}} atom "wgmma.m64n64k16"
// CHECK-NOT: tile.fence
// CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : tensor<64x64xf32>, !tile.view<64x64xf32>
tile.kernel @narrow(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf32>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [1, 1] : memref<?x?xf32>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<64x64xf16>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<64x64xf32>
  %nk = tile.num_tiles %A dim 1 : !tile.view<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<64x64xf32>) {
    %B = tile.view %b : memref<?x?xf16> to !tile.view<64x64xf16>
    %x = tile.load %A[%i, %k] : !tile.view<64x64xf16> -> tensor<64x64xf16>
    %y = tile.load %B[%k, %j] : !tile.view<64x64xf16> -> tensor<64x64xf16>
    %u = tile.mma %x, %y, %t : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %u : tensor<64x64xf32>
  }
  tile.store %sum, %C[%i, %j] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}

// -----

// The kernel's 8 warps multiply, each group 64 columns. Its limit of registers was of these warps alone.
// CHECK-LABEL: tile.kernel @by_columns
// CHECK-NOT: registers = 128
// CHECK-SAME: warps = 12
// CHECK: partition "multiply" warps(8) registers(232) {
// CHECK: tile.mma_async {{.*}} atom "wgmma.m64n64k16"
tile.kernel @by_columns(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf32>) attributes {warps = 8 : i32, registers = 128 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [1, 1] : memref<?x?xf32>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<64x64xf16>
  %C = tile.view %c : memref<?x?xf32> to !tile.view<64x128xf32>
  %nk = tile.num_tiles %A dim 1 : !tile.view<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x128xf32>
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<64x128xf32>) {
    %B = tile.view %b : memref<?x?xf16> to !tile.view<64x128xf16>
    %x = tile.load %A[%i, %k] : !tile.view<64x64xf16> -> tensor<64x64xf16>
    %y = tile.load %B[%k, %j] : !tile.view<64x128xf16> -> tensor<64x128xf16>
    %u = tile.mma %x, %y, %t : tensor<64x64xf16>, tensor<64x128xf16> -> tensor<64x128xf32>
    scf.yield %u : tensor<64x128xf32>
  }
  tile.store %sum, %C[%i, %j] : tensor<64x128xf32>, !tile.view<64x128xf32>
  tile.return
}

// -----

// Rows of A may begin at any multiple of 2 bytes.
// CHECK-LABEL: tile.kernel @odd_rows
// CHECK-NOT: tile.warp_specialize
// CHECK: tile.return
tile.kernel @odd_rows(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [1, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x64xf16>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x64xf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<128x128xf32>) {
    %B = tile.view %b : memref<?x?xf16> to !tile.view<64x128xf16>
    %x = tile.load %A[%i, %k] : !tile.view<128x64xf16> -> tensor<128x64xf16>
    %y = tile.load %B[%k, %j] : !tile.view<64x128xf16> -> tensor<64x128xf16>
    %u = tile.mma %x, %y, %t : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %u : tensor<128x128xf32>
  }
  %h = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
  tile.return
}

// -----

// A may begin at any multiple of 2 bytes.
// CHECK-LABEL: tile.kernel @not_aligned
// CHECK-NOT: tile.warp_specialize
// CHECK: tile.return
tile.kernel @not_aligned(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x64xf16>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x64xf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<128x128xf32>) {
    %B = tile.view %b : memref<?x?xf16> to !tile.view<64x128xf16>
    %x = tile.load %A[%i, %k] : !tile.view<128x64xf16> -> tensor<128x64xf16>
    %y = tile.load %B[%k, %j] : !tile.view<64x128xf16> -> tensor<64x128xf16>
    %u = tile.mma %x, %y, %t : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %u : tensor<128x128xf32>
  }
  %h = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
  tile.return
}

// -----

// TMA fills with zeros or nan.
// CHECK-LABEL: tile.kernel @other_padding
// CHECK-NOT: tile.warp_specialize
// CHECK: tile.return
tile.kernel @other_padding(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x64xf16, pad = inf>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x64xf16, pad = inf>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<128x128xf32>) {
    %B = tile.view %b : memref<?x?xf16> to !tile.view<64x128xf16>
    %x = tile.load %A[%i, %k] : !tile.view<128x64xf16, pad = inf> -> tensor<128x64xf16>
    %y = tile.load %B[%k, %j] : !tile.view<64x128xf16> -> tensor<64x128xf16>
    %u = tile.mma %x, %y, %t : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %u : tensor<128x128xf32>
  }
  %h = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
  tile.return
}

// -----

// 256 x 256 sums are too many for two groups.
// CHECK-LABEL: tile.kernel @too_many_sums
// CHECK-NOT: tile.warp_specialize
// CHECK: tile.return
tile.kernel @too_many_sums(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<256x64xf16>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<256x256xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<256x64xf16>
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<256x256xf32>) {
    %B = tile.view %b : memref<?x?xf16> to !tile.view<64x256xf16>
    %x = tile.load %A[%i, %k] : !tile.view<256x64xf16> -> tensor<256x64xf16>
    %y = tile.load %B[%k, %j] : !tile.view<64x256xf16> -> tensor<64x256xf16>
    %u = tile.mma %x, %y, %t : tensor<256x64xf16>, tensor<64x256xf16> -> tensor<256x256xf32>
    scf.yield %u : tensor<256x256xf32>
  }
  %h = arith.truncf %sum : tensor<256x256xf32> to tensor<256x256xf16>
  tile.store %h, %C[%i, %j] : tensor<256x256xf16>, !tile.view<256x256xf16>
  tile.return
}

// -----

// No stage fits in 16 KiB.
// CHECK-LABEL: tile.kernel @little_memory
// CHECK-NOT: tile.warp_specialize
// CHECK: tile.return
tile.kernel @little_memory(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf16>) attributes {machine = #tile.machine<"sm_90a", "shared.per_block.bytes" = 16384>} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x64xf16>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x64xf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<128x128xf32>) {
    %B = tile.view %b : memref<?x?xf16> to !tile.view<64x128xf16>
    %x = tile.load %A[%i, %k] : !tile.view<128x64xf16> -> tensor<128x64xf16>
    %y = tile.load %B[%k, %j] : !tile.view<64x128xf16> -> tensor<64x128xf16>
    %u = tile.mma %x, %y, %t : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %u : tensor<128x128xf32>
  }
  %h = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
  tile.return
}

// -----

// 32 rows are no wgmma.
// CHECK-LABEL: tile.kernel @too_few_rows
// CHECK-NOT: tile.warp_specialize
// CHECK: tile.return
tile.kernel @too_few_rows(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<32x64xf16>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<32x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<32x64xf16>
  %zero = arith.constant dense<0.0> : tensor<32x128xf32>
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<32x128xf32>) {
    %B = tile.view %b : memref<?x?xf16> to !tile.view<64x128xf16>
    %x = tile.load %A[%i, %k] : !tile.view<32x64xf16> -> tensor<32x64xf16>
    %y = tile.load %B[%k, %j] : !tile.view<64x128xf16> -> tensor<64x128xf16>
    %u = tile.mma %x, %y, %t : tensor<32x64xf16>, tensor<64x128xf16> -> tensor<32x128xf32>
    scf.yield %u : tensor<32x128xf32>
  }
  %h = arith.truncf %sum : tensor<32x128xf32> to tensor<32x128xf16>
  tile.store %h, %C[%i, %j] : tensor<32x128xf16>, !tile.view<32x128xf16>
  tile.return
}

// -----

// The factors have no wgmma without `precision`.
// CHECK-LABEL: tile.kernel @plain_f32
// CHECK-NOT: tile.warp_specialize
// CHECK: tile.return
tile.kernel @plain_f32(%a_: memref<?x?xf32>, %b_: memref<?x?xf32>, %c_: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [4, 1] : memref<?x?xf32>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf32>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf32> to !tile.view<128x32xf32>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x32xf32>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<128x128xf32>) {
    %B = tile.view %b : memref<?x?xf32> to !tile.view<32x128xf32>
    %x = tile.load %A[%i, %k] : !tile.view<128x32xf32> -> tensor<128x32xf32>
    %y = tile.load %B[%k, %j] : !tile.view<32x128xf32> -> tensor<32x128xf32>
    %u = tile.mma %x, %y, %t : tensor<128x32xf32>, tensor<32x128xf32> -> tensor<128x128xf32>
    scf.yield %u : tensor<128x128xf32>
  }
  %h = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
  tile.return
}

// -----

// Sums change between products.
// CHECK-LABEL: tile.kernel @more_in_the_loop
// CHECK-NOT: tile.warp_specialize
// CHECK: tile.return
tile.kernel @more_in_the_loop(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x64xf16>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x64xf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<128x128xf32>) {
    %B = tile.view %b : memref<?x?xf16> to !tile.view<64x128xf16>
    %x = tile.load %A[%i, %k] : !tile.view<128x64xf16> -> tensor<128x64xf16>
    %y = tile.load %B[%k, %j] : !tile.view<64x128xf16> -> tensor<64x128xf16>
    %u = tile.mma %x, %y, %t : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    %w = arith.addf %u, %zero : tensor<128x128xf32>
    scf.yield %w : tensor<128x128xf32>
  }
  %h = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
  tile.return
}

// -----

// The loop begins elsewhere.
// CHECK-LABEL: tile.kernel @later_begin
// CHECK-NOT: tile.warp_specialize
// CHECK: tile.return
tile.kernel @later_begin(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x64xf16>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x64xf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c1 to %nk step %c1 iter_args(%t = %zero) -> (tensor<128x128xf32>) {
    %B = tile.view %b : memref<?x?xf16> to !tile.view<64x128xf16>
    %x = tile.load %A[%i, %k] : !tile.view<128x64xf16> -> tensor<128x64xf16>
    %y = tile.load %B[%k, %j] : !tile.view<64x128xf16> -> tensor<64x128xf16>
    %u = tile.mma %x, %y, %t : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %u : tensor<128x128xf32>
  }
  %h = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
  tile.return
}

// -----

// Only whole parameters have tensor maps.
// CHECK-LABEL: tile.kernel @not_a_parameter
// CHECK-NOT: tile.warp_specialize
// CHECK: tile.return
tile.kernel @not_a_parameter(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %c_: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %c = tile.assume %c_ align 16 strides [8, 1] : memref<?x?xf16>
  %p = memref.subview %a[0, 0] [64, 64] [1, 1] : memref<?x?xf16> to memref<64x64xf16, strided<[?, 1]>>
  %A = tile.view %p : memref<64x64xf16, strided<[?, 1]>> to !tile.view<128x64xf16>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x64xf16>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %nk step %c1 iter_args(%t = %zero) -> (tensor<128x128xf32>) {
    %B = tile.view %b : memref<?x?xf16> to !tile.view<64x128xf16>
    %x = tile.load %A[%i, %k] : !tile.view<128x64xf16> -> tensor<128x64xf16>
    %y = tile.load %B[%k, %j] : !tile.view<64x128xf16> -> tensor<64x128xf16>
    %u = tile.mma %x, %y, %t : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    scf.yield %u : tensor<128x128xf32>
  }
  %h = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
  tile.return
}
