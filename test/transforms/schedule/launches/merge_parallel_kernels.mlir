// RUN: %tile_opt %s --split-input-file --pass-pipeline='builtin.module(tile-merge-parallel-kernels{chip=sm_80},canonicalize,cse)' | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --pass-pipeline='builtin.module(tile-merge-parallel-kernels{chip=sm_80},canonicalize,cse)' | FileCheck %s

// Unequal grids and kernels. The input that both read is one parameter. Each part sees its own numbers.
// CHECK-LABEL: func.func @side_by_side
// CHECK: %[[all:.*]] = arith.constant 14 : index
// CHECK-NOT: tile.launch @{{[ab]}}
// CHECK: tile.launch @merged_0 grid(%[[all]]) ins(%arg0, %arg1 : {{.*}}) outs(%[[ya:.*]], %[[zb:.*]] : {{.*}}) {tile.overwrites = [1]}
// CHECK-NOT: tile.launch
// CHECK-LABEL: tile.kernel private @merged_0(
// CHECK-SAME: %[[x:.*]]: memref<64x64xf32>, %[[w:.*]]: memref<64x64xf32>, %[[y:.*]]: memref<64x64xf32>, %[[z:.*]]: memref<64x64xf32>
// CHECK: %[[p:.*]] = tile.program_id 0
// CHECK: %[[first:.*]] = arith.cmpi slt, %[[p]], %c8
// CHECK: scf.if %[[first]] {
// CHECK: %[[r:.*]] = arith.remui %[[p]], %c2
// CHECK: tile.assume %[[r]] range [0, 1]
// CHECK: %[[d:.*]] = arith.divui %[[p]], %c2
// CHECK: tile.assume %[[d]] range [0, 3]
// CHECK: tile.view %[[y]]
// CHECK: } else {
// CHECK: %[[q:.*]] = arith.subi %[[p]], %c8
// CHECK: tile.assume %[[q]] range [0, 5]
// CHECK: tile.view %[[z]]
// CHECK-NOT: tile.kernel
func.func @side_by_side(%x: memref<64x64xf32>, %w: memref<64x64xf32>) -> (memref<64x64xf32>, memref<64x64xf32>) {
  %ya = memref.alloc() : memref<64x64xf32>
  %zb = memref.alloc() : memref<64x64xf32>
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  tile.launch @a grid(%c2, %c4) ins(%x : memref<64x64xf32>) outs(%ya : memref<64x64xf32>)
  tile.launch @b grid(%c6) ins(%x, %w : memref<64x64xf32>, memref<64x64xf32>) outs(%zb : memref<64x64xf32>) {tile.overwrites = [0]}
  return %ya, %zb : memref<64x64xf32>, memref<64x64xf32>
}
tile.kernel private @a(%x: memref<64x64xf32>, %y: memref<64x64xf32>) attributes {warps = 4 : i32} {
  %p = tile.program_id 0
  %q = tile.program_id 1
  %X = tile.view %x : memref<64x64xf32> to !tile.view<16x32xf32>
  %Y = tile.view %y : memref<64x64xf32> to !tile.view<16x32xf32>
  %t = tile.load %X[%q, %p] : !tile.view<16x32xf32> -> tensor<16x32xf32>
  tile.store %t, %Y[%q, %p] : tensor<16x32xf32>, !tile.view<16x32xf32>
  tile.return
}
tile.kernel private @b(%x: memref<64x64xf32>, %w: memref<64x64xf32>, %z: memref<64x64xf32>) attributes {warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %X = tile.view %x : memref<64x64xf32> to !tile.view<12x64xf32>
  %W = tile.view %w : memref<64x64xf32> to !tile.view<12x64xf32>
  %Z = tile.view %z : memref<64x64xf32> to !tile.view<12x64xf32>
  %s = tile.load %X[%p, %c0] : !tile.view<12x64xf32> -> tensor<12x64xf32>
  %t = tile.load %W[%p, %c0] : !tile.view<12x64xf32> -> tensor<12x64xf32>
  %u = arith.addf %s, %t : tensor<12x64xf32>
  tile.store %u, %Z[%p, %c0] : tensor<12x64xf32>, !tile.view<12x64xf32>
  tile.return
}

// -----

// One reads what the other writes, one writes what the other reads, both write one buffer: a path.
// CHECK-LABEL: func.func @in_order
// CHECK-COUNT-2: tile.launch @k
// CHECK-LABEL: func.func @before_the_write
// CHECK-COUNT-2: tile.launch @k
// CHECK-LABEL: func.func @written_twice
// CHECK-COUNT-2: tile.launch @k
// CHECK-NOT: merged
func.func @in_order(%x: memref<64x64xf32>) -> memref<64x64xf32> {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<64x64xf32>
  %b = memref.alloc() : memref<64x64xf32>
  tile.launch @k grid(%c1) ins(%x : memref<64x64xf32>) outs(%a : memref<64x64xf32>)
  tile.launch @k grid(%c1) ins(%a : memref<64x64xf32>) outs(%b : memref<64x64xf32>)
  memref.dealloc %a : memref<64x64xf32>
  return %b : memref<64x64xf32>
}
func.func @before_the_write(%x: memref<64x64xf32>, %a: memref<64x64xf32>) -> memref<64x64xf32> {
  %c1 = arith.constant 1 : index
  %b = memref.alloc() : memref<64x64xf32>
  tile.launch @k grid(%c1) ins(%a : memref<64x64xf32>) outs(%b : memref<64x64xf32>)
  tile.launch @k grid(%c1) ins(%x : memref<64x64xf32>) outs(%a : memref<64x64xf32>)
  return %b : memref<64x64xf32>
}
func.func @written_twice(%x: memref<64x64xf32>) -> memref<64x64xf32> {
  %c1 = arith.constant 1 : index
  %b = memref.alloc() : memref<64x64xf32>
  tile.launch @k grid(%c1) ins(%x : memref<64x64xf32>) outs(%b : memref<64x64xf32>)
  tile.launch @k grid(%c1) ins(%x : memref<64x64xf32>) outs(%b : memref<64x64xf32>)
  return %b : memref<64x64xf32>
}
tile.kernel private @k(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  tile.return
}

// -----

// Two arguments may be one memory; a loop's buffer may be one of two.
// CHECK-LABEL: func.func @arguments
// CHECK-COUNT-2: tile.launch @k
// CHECK-LABEL: func.func @carried
// CHECK-COUNT-2: tile.launch @k
// CHECK-NOT: merged
func.func @arguments(%x: memref<64x64xf32>, %a: memref<64x64xf32>, %b: memref<64x64xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @k grid(%c1) ins(%x : memref<64x64xf32>) outs(%a : memref<64x64xf32>)
  tile.launch @k grid(%c1) ins(%x : memref<64x64xf32>) outs(%b : memref<64x64xf32>)
  return
}
func.func @carried(%x: memref<64x64xf32>, %is: i1) -> memref<64x64xf32> {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<64x64xf32>
  %b = memref.alloc() : memref<64x64xf32>
  %c = arith.select %is, %a, %b : memref<64x64xf32>
  tile.launch @k grid(%c1) ins(%x : memref<64x64xf32>) outs(%a : memref<64x64xf32>)
  tile.launch @k grid(%c1) ins(%x : memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return %c : memref<64x64xf32>
}
tile.kernel private @k(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  tile.return
}

// -----

// Columns of one buffer do not overlap, rows and columns do. What hangs on the first launch goes behind the merged one.
// CHECK-LABEL: func.func @columns
// CHECK: tile.launch @merged_0
// CHECK: tile.launch @read
// CHECK: tile.launch @top
// CHECK-NOT: tile.launch
// CHECK: return
func.func @columns() -> (memref<8x8xf32>, memref<8x4xf32, strided<[8, 1]>>) {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8x8xf32>
  %b = memref.alloc() : memref<8x4xf32, strided<[8, 1]>>
  %left = memref.subview %a[0, 0] [8, 4] [1, 1] : memref<8x8xf32> to memref<8x4xf32, strided<[8, 1]>>
  %right = memref.subview %a[0, 4] [8, 4] [1, 1] : memref<8x8xf32> to memref<8x4xf32, strided<[8, 1], offset: 4>>
  %top = memref.subview %a[0, 0] [4, 8] [1, 1] : memref<8x8xf32> to memref<4x8xf32, strided<[8, 1]>>
  tile.launch @left grid(%c1) outs(%left : memref<8x4xf32, strided<[8, 1]>>)
  tile.launch @read grid(%c1) ins(%left : memref<8x4xf32, strided<[8, 1]>>) outs(%b : memref<8x4xf32, strided<[8, 1]>>)
  tile.launch @right grid(%c1) outs(%right : memref<8x4xf32, strided<[8, 1], offset: 4>>)
  tile.launch @top grid(%c1) outs(%top : memref<4x8xf32, strided<[8, 1]>>)
  return %a, %b : memref<8x8xf32>, memref<8x4xf32, strided<[8, 1]>>
}
tile.kernel private @left(%x: memref<8x4xf32, strided<[8, 1]>>) {
  tile.return
}
tile.kernel private @right(%x: memref<8x4xf32, strided<[8, 1], offset: 4>>) {
  tile.return
}
tile.kernel private @top(%x: memref<4x8xf32, strided<[8, 1]>>) {
  tile.return
}
tile.kernel private @read(%x: memref<8x4xf32, strided<[8, 1]>>, %y: memref<8x4xf32, strided<[8, 1]>>) {
  tile.return
}

// -----

// Sizes of grids that are known late are parameters; none is below 0. Equal merges share one kernel.
// CHECK-LABEL: func.func @late(
// CHECK-SAME: %[[n:.*]]: index, %[[m:.*]]: index
// CHECK: %[[most:.*]] = arith.maxsi %[[n]], %c0
// CHECK: %[[all:.*]] = arith.addi %[[most]], %c3
// CHECK: tile.launch @merged_0 grid(%[[all]]) ins(%[[most]] : index)
// CHECK: tile.launch @merged_0
// CHECK: tile.kernel private @merged_0(%[[size:.*]]: index
// CHECK: arith.cmpi slt, %{{.*}}, %[[size]]
// CHECK-NOT: @merged_1
func.func @late(%n: index, %m: index) -> (memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>) {
  %c3 = arith.constant 3 : index
  %a = memref.alloc() : memref<8x8xf32>
  %b = memref.alloc() : memref<8x8xf32>
  tile.launch @one grid(%n) outs(%a : memref<8x8xf32>)
  tile.launch @one grid(%c3) outs(%b : memref<8x8xf32>)
  tile.launch @one grid(%n) outs(%a : memref<8x8xf32>)
  tile.launch @one grid(%c3) outs(%b : memref<8x8xf32>)
  return %a, %b, %a, %b : memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>, memref<8x8xf32>
}
tile.kernel private @one(%x: memref<8x8xf32>) {
  %p = tile.program_id 0
  %c0 = arith.constant 0 : index
  %v = arith.constant 1.0 : f32
  memref.store %v, %x[%p, %c0] : memref<8x8xf32>
  tile.return
}
