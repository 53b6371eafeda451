// How accesses move their elements is written into the kernel, and what the kernel says is obeyed.
// RUN: split-file %s %t
// RUN: %tile_opt %t/accesses.mlir --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-choose-accesses{chip=sm_80}))' | FileCheck %t/accesses.mlir
// RUN: %tile_opt %t/accesses.mlir --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-choose-accesses{chip=sm_80}))' --tile-pass-statistics 2>&1 >/dev/null | FileCheck %t/accesses.mlir --check-prefix=COUNT
// RUN: %tile_opt %t/edited.mlir --split-input-file --convert-tile-to-nvvm=chip=sm_80 --canonicalize | FileCheck %t/edited.mlir
// RUN: %tile_opt %t/edited.mlir --split-input-file --pass-pipeline='builtin.module(tile.kernel(tile-choose-accesses{chip=sm_80}),convert-tile-to-nvvm{chip=sm_80},canonicalize)' | FileCheck %t/edited.mlir
// RUN: not %tile_opt %t/refused.mlir --split-input-file --convert-tile-to-nvvm=chip=sm_80 2>&1 | FileCheck %t/refused.mlir
// RUN: not %tile_opt %t/cpu.mlir --pass-pipeline='builtin.module(tile.kernel(tile-choose-accesses{chip=x86-64-v4}))' 2>&1 | FileCheck %t/cpu.mlir

//--- accesses.mlir
// COUNT-DAG: 2 copies
// COUNT-DAG: 2 late
// COUNT-DAG: 2 matrices
// COUNT-DAG: 3 vectors

// As wide as alignment, edges and layout allow: 16 bytes of a contiguous memref; the edge of ? elements allows one.
#wide = #tile.layout<reg [8:d0], lane [32:d0*8]>
// CHECK-LABEL: tile.kernel @widths
// CHECK: tile.load %{{.*}}[%{{.*}}] vector 4 : !tile.view<256xf32>
// CHECK: tile.load %{{.*}}[%{{.*}}] vector 1 : !tile.view<256xf32>
// CHECK: tile.store {{.*}} vector 2 :
// CHECK: tile.store {{.*}} combine(add) : tensor
// CHECK: tile.load %{{.*}}[%{{.*}}] vector 2 : !tile.view<256xf32>
tile.kernel @widths(%a: memref<1024xf32>, %b: memref<?xf32>, %i: index) attributes {warps = 1 : i32} {
  %aligned = tile.assume %a align 16 : memref<1024xf32>
  %A = tile.view %aligned : memref<1024xf32> to !tile.view<256xf32>
  %B = tile.view %b : memref<?xf32> to !tile.view<256xf32>
  %half = tile.assume %a align 8 : memref<1024xf32>
  %C = tile.view %half : memref<1024xf32> to !tile.view<256xf32>
  %x = tile.load %A[%i] : !tile.view<256xf32> -> tensor<256xf32, #wide>
  %y = tile.load %B[%i] : !tile.view<256xf32> -> tensor<256xf32, #wide>
  tile.store %x, %C[%i] : tensor<256xf32, #wide>, !tile.view<256xf32>
  tile.store %y, %B[%i] combine(add) : tensor<256xf32, #wide>, !tile.view<256xf32>
  // What an access says already stays.
  %z = tile.load %A[%i] vector 2 : !tile.view<256xf32> -> tensor<256xf32, #wide>
  tile.store %z, %A[%i] : tensor<256xf32, #wide>, !tile.view<256xf32>
  tile.return
}

// -----

// Copies by cp.async in pieces of 16 bytes; fragments by matrices, step by step; a fragment that a product does not take
// at once is not late.
#lhs = #tile.layout<reg [2:d1, 2:d0*8, 2:d1*8, 2:d1*16], lane [4:d1*2, 8:d0]>
#rhs = #tile.layout<reg [2:d0, 4:d0*8], lane [4:d0*2, 8:d1]>
#acc = #tile.layout<reg [2:d1, 2:d0*8], lane [4:d1*2, 8:d0]>
#rows = #tile.layout<offset [32:d1, 16:d0]>
#columns = #tile.layout<offset [32:d0, 8:d1]>
// CHECK: [[THREADS:#layout[0-9]*]] = #tile.layout<reg [8:d1, 2:d0*8], lane [4:d1*8, 8:d0]>
// CHECK-LABEL: tile.kernel @product
// CHECK: tile.copy_async {{.*}} engine "cp.async" vector 8 threads([[THREADS]])
// CHECK: tile.copy_async {{.*}} engine "cp.async" vector 8
// CHECK: tile.copy_async {{.*}} to %{{[0-9a-z]+}} vector 1 threads
// CHECK: tile.load %{{.*}} matrices 2 late
// CHECK: tile.load %{{.*}} matrices 2 late
tile.kernel @product(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %y: memref<16x8xf32>) attributes {warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %a16 = tile.assume %a align 16 : memref<64x64xf16>
  %b16 = tile.assume %b align 16 : memref<64x64xf16>
  %A = tile.view %a16 : memref<64x64xf16> to !tile.view<16x32xf16>
  %B = tile.view %b16 : memref<64x64xf16> to !tile.view<32x8xf16, order = [1, 0]>
  %C = tile.view %a : memref<64x64xf16> to !tile.view<16x32xf16>
  %bufferA = tile.alloc at 0 : !tile.buffer<16x32xf16, #rows, shared>
  %bufferB = tile.alloc at 1024 : !tile.buffer<32x8xf16, #columns, shared>
  %bufferC = tile.alloc at 2048 : !tile.buffer<16x32xf16, #rows, shared>
  %s = tile.copy_async %A[%c0, %c1] to %bufferA : !tile.view<16x32xf16> to !tile.buffer<16x32xf16, #rows, shared>
  %t = tile.copy_async %B[%c0, %c0] to %bufferB : !tile.view<32x8xf16, order = [1, 0]> to !tile.buffer<32x8xf16, #columns, shared>
  %u = tile.copy_async %C[%c0, %c1] to %bufferC : !tile.view<16x32xf16> to !tile.buffer<16x32xf16, #rows, shared>
  tile.wait %s, %t, %u
  tile.sync
  %l = tile.load %bufferA : !tile.buffer<16x32xf16, #rows, shared> -> tensor<16x32xf16, #lhs>
  %r = tile.load %bufferB : !tile.buffer<32x8xf16, #columns, shared> -> tensor<32x8xf16, #rhs>
  %d = tile.mma %l, %r, %zero atom "mma.sync.m16n8k16" : tensor<16x32xf16, #lhs>, tensor<32x8xf16, #rhs> -> tensor<16x8xf32, #acc>
  %Y = tile.view %y : memref<16x8xf32> to !tile.view<16x8xf32>
  tile.store %d, %Y[%c0, %c0] : tensor<16x8xf32, #acc>, !tile.view<16x8xf32>
  tile.return
}

//--- edited.mlir
// A narrower vector than memory and layout allow: two loads of two elements.
#four = #tile.layout<reg [4:d0], lane [32:d0*4]>
// CHECK-LABEL: llvm.func @narrow
// CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<1> -> vector<2xf32>
// CHECK-NOT: llvm.load
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr<1>
tile.kernel @narrow(%a: memref<1024xf32>) attributes {warps = 1 : i32, ordered} {
  %c0 = arith.constant 0 : index
  %b = tile.assume %a align 16 : memref<1024xf32>
  %A = tile.view %b : memref<1024xf32> to !tile.view<128xf32>
  %x = tile.load %A[%c0] vector 2 : !tile.view<128xf32> -> tensor<128xf32, #four>
  tile.store %x, %A[%c0] vector 4 : tensor<128xf32, #four>, !tile.view<128xf32>
  tile.return
}

// -----

// Copied by the threads, each two pieces of a row: no engine, no group of copies; the fragment is read element by
// element.
#lhs = #tile.layout<reg [2:d1, 2:d0*8, 2:d1*8], lane [4:d1*2, 8:d0]>
#rows = #tile.layout<offset [16:d1, 16:d0]>
#threads = #tile.layout<reg [8:d1], lane [16:d0, 2:d1*8]>
// CHECK-LABEL: llvm.func @threads
// CHECK-NOT: cp.async.shared
// CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> vector<8xf16>
// CHECK: llvm.store {{.*}} : vector<8xf16>, !llvm.ptr<3>
// CHECK-NOT: ldmatrix
// CHECK-COUNT-8: llvm.load {{.*}} : !llvm.ptr<3> -> f16
tile.kernel @threads(%a: memref<64x64xf16>, %y: memref<64x64xf16>) attributes {warps = 1 : i32, ordered} {
  %c0 = arith.constant 0 : index
  %b = tile.assume %a align 16 : memref<64x64xf16>
  %A = tile.view %b : memref<64x64xf16> to !tile.view<16x16xf16>
  %Y = tile.view %y : memref<64x64xf16> to !tile.view<16x16xf16>
  %buffer = tile.alloc at 0 : !tile.buffer<16x16xf16, #rows, shared>
  %s = tile.copy_async %A[%c0, %c0] to %buffer vector 8 threads(#threads) : !tile.view<16x16xf16> to !tile.buffer<16x16xf16, #rows, shared>
  tile.wait %s
  tile.sync
  %l = tile.load %buffer vector 1 : !tile.buffer<16x16xf16, #rows, shared> -> tensor<16x16xf16, #lhs>
  tile.store %l, %Y[%c0, %c0] vector 1 : tensor<16x16xf16, #lhs>, !tile.view<16x16xf16>
  tile.return
}

//--- refused.mlir
#four = #tile.layout<reg [4:d0], lane [32:d0*4]>
tile.kernel @wide(%a: memref<1024xf32>, %i: index) attributes {warps = 1 : i32, ordered} {
  %A = tile.view %a : memref<1024xf32> to !tile.view<128xf32>
  // CHECK: 'tile.load' op moves 4 elements at once, but only 1 are known to lie together: aligned, inside memory, and in one thread
  %x = tile.load %A[%i] vector 4 : !tile.view<128xf32> -> tensor<128xf32, #four>
  tile.return
}

// -----

#rows = #tile.layout<offset [64:d0]>
#two = #tile.layout<reg [2:d0], lane [32:d0*2]>
tile.kernel @matrices() attributes {warps = 1 : i32, ordered} {
  %b = tile.alloc at 0 : !tile.buffer<64xf32, #rows, shared>
  // CHECK: 'tile.load' op cannot be read by matrices (third bit 2) on sm_80: the instruction moves rows of 16 bytes of 16-bit elements that the fragment and the buffer keep together
  %x = tile.load %b matrices 2 : !tile.buffer<64xf32, #rows, shared> -> tensor<64xf32, #two>
  tile.return
}

// -----

#rows = #tile.layout<offset [64:d0]>
#two = #tile.layout<reg [2:d0], lane [32:d0*2]>
tile.kernel @late() attributes {warps = 1 : i32, ordered} {
  %b = tile.alloc at 0 : !tile.buffer<64xf32, #rows, shared>
  // CHECK: 'tile.load' op cannot be read late: its one use must be a factor of a product by matrix instructions in this block, and nothing between the two may end a copy, synchronize or write memory
  %x = tile.load %b vector 2 late : !tile.buffer<64xf32, #rows, shared> -> tensor<64xf32, #two>
  tile.store %x, %b vector 2 : tensor<64xf32, #two>, !tile.buffer<64xf32, #rows, shared>
  tile.return
}

// -----

#rows = #tile.layout<offset [64:d0]>
tile.kernel @engine(%a: memref<64xf32>) attributes {warps = 1 : i32, ordered} {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<64xf32> to !tile.view<64xf32, pad = nan>
  %b = tile.alloc at 0 : !tile.buffer<64xf32, #rows, shared>
  // CHECK: 'tile.copy_async' op copies 4 bytes at once by engine "cp.async", which on sm_80 copies whole buffers from views that pad with zero, in pieces of 4 8 16 bytes
  %s = tile.copy_async %A[%c0] to %b engine "cp.async" : !tile.view<64xf32, pad = nan> to !tile.buffer<64xf32, #rows, shared>
  tile.wait %s
  tile.return
}

// -----

#rows = #tile.layout<offset [64:d0]>
#two = #tile.layout<reg [2:d0*32], lane [32:d0]>
tile.kernel @pieces(%a: memref<64xf32>) attributes {warps = 1 : i32, ordered} {
  %c0 = arith.constant 0 : index
  %m = tile.assume %a align 16 : memref<64xf32>
  %A = tile.view %m : memref<64xf32> to !tile.view<64xf32>
  %b = tile.alloc at 0 : !tile.buffer<64xf32, #rows, shared>
  // CHECK: 'tile.copy_async' op has `threads` whose first registers are not 2 neighbours in the buffer
  %s = tile.copy_async %A[%c0] to %b engine "cp.async" vector 2 threads(#two) : !tile.view<64xf32> to !tile.buffer<64xf32, #rows, shared>
  tile.wait %s
  tile.return
}

// -----

#rows = #tile.layout<offset [64:d0]>
#two = #tile.layout<reg [2:d0], lane [16:d0*2], warp [2:d0*32]>
tile.kernel @lanes(%a: memref<64xf32>) attributes {warps = 1 : i32, ordered} {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<64xf32> to !tile.view<64xf32>
  %b = tile.alloc at 0 : !tile.buffer<64xf32, #rows, shared>
  // CHECK: 'tile.copy' op has `threads` of 16 lanes and 2 warps; expected 32 lanes and 1 warps
  tile.copy %A[%c0] to %b threads(#two) : !tile.view<64xf32> to !tile.buffer<64xf32, #rows, shared>
  tile.return
}

//--- cpu.mlir
// CHECK: machine x86-64-v4 has no warp.width; threads access memory on GPUs only
tile.kernel @cpu() {
  tile.return
}
