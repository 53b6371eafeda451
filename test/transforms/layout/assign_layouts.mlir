// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts{chip=sm_80 report=true}))' --verify-diagnostics | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts{chip=sm_80 report=true}))' --verify-diagnostics | FileCheck %s

// 16 bytes a lane where the kernel says that rows are so aligned; the store as the load, so nothing is converted.
// CHECK: #[[wide:.*]] = #tile.layout<reg [8:d1, 4:d0*16], lane [8:d1*8, 4:d0], warp [4:d0*4]>
// CHECK-LABEL: tile.kernel @scale
// CHECK-SAME: machine = #tile.machine<"sm_80">, warps = 4 : i32
// CHECK: arith.constant dense<2.000000e+00> : tensor<64x64xf16, #[[wide]]>
// CHECK: tile.load {{.*}} -> tensor<64x64xf16, #[[wide]]>
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tile.store {{.*}} tensor<64x64xf16, #[[wide]]>
// expected-remark @below {{0 conversions}}
tile.kernel @scale(%a: memref<?x?xf16>, %b: memref<?x?xf16>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %two = arith.constant dense<2.0> : tensor<64x64xf16>
  %x = tile.assume %a align 16 strides [8, 1] : memref<?x?xf16>
  %y = tile.assume %b align 16 strides [8, 1] : memref<?x?xf16>
  %X = tile.view %x : memref<?x?xf16> to !tile.view<64x64xf16>
  %Y = tile.view %y : memref<?x?xf16> to !tile.view<64x64xf16>
  %v = tile.load %X[%i, %c0] : !tile.view<64x64xf16> -> tensor<64x64xf16>
  %w = arith.mulf %v, %two : tensor<64x64xf16>
  tile.store %w, %Y[%i, %c0] : tensor<64x64xf16>, !tile.view<64x64xf16>
  tile.return
}

// -----

// The product's fragments, the operands converted inside the loop, the accumulator not. The bias is loaded as the sum
// wants it, through one small conversion, before it is spread; zeros are what they are in any layout.
// CHECK-DAG: #[[acc:.*]] = #tile.layout<reg [2:d1, 2:d0*8, 8:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:d1*64]>
// CHECK-DAG: #[[lhs:.*]] = #tile.layout<reg [2:d1, 2:d0*8, 4:d1*8, 4:d0*16], lane [4:d1*2, 8:d0], warp [2:d0*64, 2:_]>
// CHECK-DAG: #[[rhs:.*]] = #tile.layout<reg [2:d0, 4:d0*8, 8:d1*8], lane [4:d0*2, 8:d1], warp [2:_, 2:d1*64]>
// CHECK-LABEL: tile.kernel @gemm
// CHECK: arith.constant dense<0.000000e+00> : tensor<128x128xf32, #[[acc]]>
// CHECK: scf.for
// CHECK: %[[a:.*]] = tile.convert_layout {{.*}} -> tensor<128x32xf16, #[[lhs]]>
// CHECK: %[[b:.*]] = tile.convert_layout {{.*}} -> tensor<32x128xf16, #[[rhs]]>
// CHECK: tile.mma %[[a]], %[[b]], %{{.*}} atom "mma.sync.m16n8k16"
// CHECK-NEXT: scf.yield
// CHECK: tile.broadcast {{.*}} -> tensor<128x128xf32, #[[acc]]>
// CHECK: tile.convert_layout {{.*}} : tensor<128x128xf16, #[[acc]]>
// expected-remark @below {{4 conversions: 0 by registers, 0 by shuffles, 4 through shared memory}}
tile.kernel @gemm(%a_: memref<?x?xf16>, %b_: memref<?x?xf16>, %bias: memref<?xf32>, %c: memref<?x?xf16>) {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %a = tile.assume %a_ align 16 strides [8, 1] : memref<?x?xf16>
  %b = tile.assume %b_ align 16 strides [8, 1] : memref<?x?xf16>
  %A = tile.view %a : memref<?x?xf16> to !tile.view<128x32xf16>
  %B = tile.view %b : memref<?x?xf16> to !tile.view<32x128xf16>
  %V = tile.view %bias : memref<?xf32> to !tile.view<128xf32>
  %C = tile.view %c : memref<?x?xf16> to !tile.view<128x128xf16>
  %nk = tile.num_tiles %A dim 1 : !tile.view<128x32xf16>
  %acc = scf.for %k = %c0 to %nk step %c1 iter_args(%s = %zero) -> (tensor<128x128xf32>) {
    %x = tile.load %A[%i, %k] : !tile.view<128x32xf16> -> tensor<128x32xf16>
    %w = tile.load %B[%k, %j] : !tile.view<32x128xf16> -> tensor<32x128xf16>
    %m = tile.mma %x, %w, %s : tensor<128x32xf16>, tensor<32x128xf16> -> tensor<128x128xf32>
    scf.yield %m : tensor<128x128xf32>
  }
  %v = tile.load %V[%j] : !tile.view<128xf32> -> tensor<128xf32>
  %vb = tile.broadcast %v axes [0] : tensor<128xf32> -> tensor<128x128xf32>
  %sum = arith.addf %acc, %vb : tensor<128x128xf32>
  %pos = arith.maximumf %sum, %zero : tensor<128x128xf32>
  %h = arith.truncf %pos : tensor<128x128xf32> to tensor<128x128xf16>
  tile.store %h, %C[%i, %j] : tensor<128x128xf16>, !tile.view<128x128xf16>
  tile.return
}

// -----

// Rows of a softmax: nothing moves between the layouts, whatever is reduced and spread again.
// CHECK-LABEL: tile.kernel @softmax
// CHECK-NOT: convert_layout
// expected-remark @below {{0 conversions}}
tile.kernel @softmax(%x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<?x64xf32> to !tile.view<16x64xf32>
  %Y = tile.view %y : memref<?x64xf32> to !tile.view<16x64xf32>
  %v = tile.load %X[%i, %c0] : !tile.view<16x64xf32> -> tensor<16x64xf32>
  %m = tile.reduce {arith.maximumf} %v axes [1] : tensor<16x64xf32> -> tensor<16xf32>
  %mb = tile.broadcast %m axes [1] : tensor<16xf32> -> tensor<16x64xf32>
  %d = arith.subf %v, %mb : tensor<16x64xf32>
  %e = math.exp %d : tensor<16x64xf32>
  %s = tile.reduce {arith.addf} %e axes [1] : tensor<16x64xf32> -> tensor<16xf32>
  %sb = tile.broadcast %s axes [1] : tensor<16xf32> -> tensor<16x64xf32>
  %q = arith.divf %e, %sb : tensor<16x64xf32>
  tile.store %q, %Y[%i, %c0] : tensor<16x64xf32>, !tile.view<16x64xf32>
  tile.return
}

// -----

// A mask is needed in two layouts, by rows and by columns: made anew, not converted.
// CHECK-LABEL: tile.kernel @two_masks
// CHECK-COUNT-2: tile.iota
// CHECK-COUNT-2: arith.cmpi
// CHECK-NOT: tile.convert_layout
// expected-remark @below {{0 conversions}}
tile.kernel @two_masks(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant dense<7> : tensor<64x64xindex>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %X = tile.view %x : memref<64x64xf32> to !tile.view<64x64xf32>
  %Y = tile.view %y : memref<64x64xf32> to !tile.view<64x64xf32, order = [1, 0]>
  %row = tile.iota dim 0 : tensor<64x64xindex>
  %mask = arith.cmpi ult, %row, %c7 : tensor<64x64xindex>
  %a = tile.load %X[%c0, %c0] : !tile.view<64x64xf32> -> tensor<64x64xf32>
  %b = tile.load %Y[%c0, %c0] : !tile.view<64x64xf32, order = [1, 0]> -> tensor<64x64xf32>
  %a1 = arith.select %mask, %a, %none : tensor<64x64xi1>, tensor<64x64xf32>
  %b1 = arith.select %mask, %b, %none : tensor<64x64xi1>, tensor<64x64xf32>
  tile.store %a1, %X[%c0, %c0] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.store %b1, %Y[%c0, %c0] : tensor<64x64xf32>, !tile.view<64x64xf32, order = [1, 0]>
  tile.return
}

// -----

// f32 has no instruction on this machine that is exact: threads multiply and add.
// CHECK-LABEL: tile.kernel @f32
// CHECK: tile.mma {{.*}} atom "fma"
// expected-remark @below {{conversions}}
tile.kernel @f32(%a: memref<32x32xf32>, %b: memref<32x32xf32>, %c: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<32x32xf32> to !tile.view<32x32xf32>
  %C = tile.view %c : memref<32x32xf32> to !tile.view<32x32xf32>
  %B = tile.view %b : memref<32x32xf32> to !tile.view<32x32xf32>
  %x = tile.load %A[%c0, %c0] : !tile.view<32x32xf32> -> tensor<32x32xf32>
  %y = tile.load %B[%c0, %c0] : !tile.view<32x32xf32> -> tensor<32x32xf32>
  %z = tile.load %C[%c0, %c0] : !tile.view<32x32xf32> -> tensor<32x32xf32>
  %m = tile.mma %x, %y, %z : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  tile.store %m, %C[%c0, %c0] : tensor<32x32xf32>, !tile.view<32x32xf32>
  tile.return
}

// -----

// 100 rows are 7 fragments of 16: the operand and the sum are padded with zeros, the sum is cut again. 24 of k are three
// of the shorter instruction's 8: no padding there. An odd factor is an outermost repetition of registers.
// CHECK-DAG: #[[acc:.*]] = #tile.layout<reg [2:d1, 2:d0*8, 7:d0*16], lane [4:d1*2, 8:d0], warp [4:d1*8]>
// CHECK-LABEL: tile.kernel @padded
// CHECK: tile.insert {{.*}} tensor<100x24xf16, #{{.*}}>, tensor<112x24xf16
// CHECK: tile.insert {{.*}} tensor<100x32xf32, #{{.*}}>, tensor<112x32xf32
// CHECK: tile.mma {{.*}} atom "mma.sync.m16n8k8" {{.*}} -> tensor<112x32xf32, #[[acc]]>
// CHECK: tile.slice {{.*}} -> tensor<100x32xf32
// expected-remark @below {{conversions}}
tile.kernel @padded(%a: memref<100x24xf16>, %b: memref<24x32xf16>, %c: memref<100x32xf32>) {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<100x24xf16> to !tile.view<100x24xf16>
  %C = tile.view %c : memref<100x32xf32> to !tile.view<100x32xf32>
  %B = tile.view %b : memref<24x32xf16> to !tile.view<24x32xf16>
  %x = tile.load %A[%c0, %c0] : !tile.view<100x24xf16> -> tensor<100x24xf16>
  %y = tile.load %B[%c0, %c0] : !tile.view<24x32xf16> -> tensor<24x32xf16>
  %z = tile.load %C[%c0, %c0] : !tile.view<100x32xf32> -> tensor<100x32xf32>
  %m = tile.mma %x, %y, %z : tensor<100x24xf16>, tensor<24x32xf16> -> tensor<100x32xf32>
  tile.store %m, %C[%c0, %c0] : tensor<100x32xf32>, !tile.view<100x32xf32>
  tile.return
}

// -----

// A kernel that has layouts already stays as it is, and one without tiles has nothing to lay out.
// CHECK-LABEL: tile.kernel @scheduled(%{{.*}}) {
// CHECK: tile.load {{.*}} -> tensor<32xf32, #[[seen:.*]]>
// CHECK-NEXT: tile.store {{.*}} tensor<32xf32, #[[seen]]>
tile.kernel @scheduled(%x: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<32xf32> to !tile.view<32xf32>
  %v = tile.load %X[%c0] : !tile.view<32xf32> -> tensor<32xf32, #tile.layout<lane [32:d0]>>
  tile.store %v, %X[%c0] : tensor<32xf32, #tile.layout<lane [32:d0]>>, !tile.view<32xf32>
  tile.return
}
// CHECK-LABEL: tile.kernel @scalars(%{{.*}}) {
tile.kernel @scalars(%x: memref<f32>) {
  %v = memref.load %x[] : memref<f32>
  memref.store %v, %x[] : memref<f32>
  tile.return
}

// -----

// Calls are inlined: a function of tiles has no layouts of its own.
tile.func private @twice(%x: tensor<32xf32>) -> tensor<32xf32> {
  %y = arith.addf %x, %x : tensor<32xf32>
  tile.return %y : tensor<32xf32>
}
// CHECK-LABEL: tile.kernel @calls
// CHECK-COUNT-2: arith.addf
// CHECK-NOT: tile.call
// expected-remark @below {{0 conversions}}
tile.kernel @calls(%x: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %X = tile.view %x : memref<32xf32> to !tile.view<32xf32>
  %v = tile.load %X[%c0] : !tile.view<32xf32> -> tensor<32xf32>
  %w = tile.call @twice(%v) : (tensor<32xf32>) -> tensor<32xf32>
  %u = tile.call @twice(%w) : (tensor<32xf32>) -> tensor<32xf32>
  tile.store %u, %X[%c0] : tensor<32xf32>, !tile.view<32xf32>
  tile.return
}
