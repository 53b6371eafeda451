// Fragments of 16-bit elements go to shared memory by stmatrix, along rows and transposed, where the chip has it and each
// element is in one thread; else by vectors. Each kernel gives what the interpreter does. A barrier less is a race.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-choose-accesses{chip=sm_90a}))' | FileCheck %s --check-prefix=CHOICE
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-choose-accesses{chip=sm_80}))' | FileCheck %s --check-prefix=NONE
// RUN: %tile_translate %s --tile-to-ptx --chip=sm_90a -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: %tile_run %s --target=emulate:sm_90a --target=emulate:sm_80 --check-against=interpret | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile.kernel(tile-plan-shared-memory{chip=sm_90a},tile-insert-barriers,tile-choose-accesses{chip=sm_90a}))' | sed -e '/tile.sync/d' -e 's/attributes {/attributes {ordered, /' > %t.race.mlir
// RUN: not %tile_run %t.race.mlir --target=emulate:sm_90a 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: sed 's/\(tile.store .u, .e\) :/\1 matrices 2 :/' %s > %t.copies.mlir
// RUN: not %tile_run %t.copies.mlir --target=emulate:sm_90a 2>&1 | FileCheck %s --check-prefix=COPIES
// RUN: sed 's/\(tile.store .t, .b\) :/\1 matrices 2 :/' %s > %t.old.mlir
// RUN: not %tile_run %t.old.mlir --target=emulate:sm_80 2>&1 | FileCheck %s --check-prefix=OLD
// CHOICE-COUNT-2: tile.store {{.*}} matrices 2 :
// CHOICE: tile.store {{.*}} vector 2 :
// NONE-NOT: tile.store {{.*}} matrices
// PTX-COUNT-2: stmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX-COUNT-2: stmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// PTX-NOT: stmatrix
// CHECK-COUNT-6: right
// RACE: race
// COPIES: 'tile.store' op cannot be written by matrices (third bit 2) on sm_90a
// OLD: 'tile.store' op cannot be written by matrices (third bit 2) on sm_80
#acc = #tile.layout<reg [2:d1, 2:d0*8, 4:d1*8], lane [4:d1*2, 8:d0], warp [2:d0*16]>
#both = #tile.layout<reg [2:d1, 2:d0*8, 4:d1*8], lane [4:d1*2, 8:d0], warp [2:_]>
#rows = #tile.layout<offset [32:d1, 32:d0]>
#columns = #tile.layout<offset [32:d0, 32:d1]>
#half = #tile.layout<offset [32:d1, 16:d0]>
tile.kernel @moved(%a: memref<32x32xf16>, %x: memref<32x32xf16>, %y: memref<32x32xf16>, %z: memref<16x32xf16>) attributes {warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<32x32xf16> to !tile.view<32x32xf16>
  %X = tile.view %x : memref<32x32xf16> to !tile.view<32x32xf16>
  %Y = tile.view %y : memref<32x32xf16> to !tile.view<32x32xf16>
  %S = tile.view %a : memref<32x32xf16> to !tile.view<16x32xf16>
  %Z = tile.view %z : memref<16x32xf16> to !tile.view<16x32xf16>
  %b = tile.alloc : !tile.buffer<32x32xf16, #rows, shared>
  %c = tile.alloc : !tile.buffer<32x32xf16, #columns, shared>
  %e = tile.alloc : !tile.buffer<16x32xf16, #half, shared>
  %t = tile.load %A[%c0, %c0] : !tile.view<32x32xf16> -> tensor<32x32xf16, #acc>
  %u = tile.load %S[%c0, %c0] : !tile.view<16x32xf16> -> tensor<16x32xf16, #both>
  tile.store %t, %b : tensor<32x32xf16, #acc>, !tile.buffer<32x32xf16, #rows, shared>
  tile.store %t, %c : tensor<32x32xf16, #acc>, !tile.buffer<32x32xf16, #columns, shared>
  tile.store %u, %e : tensor<16x32xf16, #both>, !tile.buffer<16x32xf16, #half, shared>
  tile.sync
  %r = tile.load %b : !tile.buffer<32x32xf16, #rows, shared> -> tensor<32x32xf16, #acc>
  %s = tile.load %c : !tile.buffer<32x32xf16, #columns, shared> -> tensor<32x32xf16, #acc>
  %h = tile.load %e : !tile.buffer<16x32xf16, #half, shared> -> tensor<16x32xf16, #both>
  tile.store %r, %X[%c0, %c0] : tensor<32x32xf16, #acc>, !tile.view<32x32xf16>
  tile.store %s, %Y[%c0, %c0] : tensor<32x32xf16, #acc>, !tile.view<32x32xf16>
  tile.store %h, %Z[%c0, %c0] : tensor<16x32xf16, #both>, !tile.view<16x32xf16>
  tile.return
}
func.func @main(%a: memref<32x32xf16>, %x: memref<32x32xf16>, %y: memref<32x32xf16>, %z: memref<16x32xf16>) {
  %g = arith.constant 1 : index
  tile.launch @moved grid(%g) ins(%a : memref<32x32xf16>) outs(%x, %y, %z : memref<32x32xf16>, memref<32x32xf16>, memref<16x32xf16>)
  return
}
