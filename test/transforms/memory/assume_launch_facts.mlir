// What a kernel is told of its launches: alignment, divisors, constants, and which parameters share no memory.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-assume-launch-facts)' -split-input-file | FileCheck %s

// An allocation begins at a multiple of 64 bytes, an entry's argument at one of 16, which the entry says. Two arguments
// may be one buffer, but both are read only.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: memref<?x512xf16>, %[[Y:.*]]: memref<512xf16>)
// CHECK-DAG: %[[XA:.*]] = memref.assume_alignment %[[X]], 16
// CHECK-DAG: %[[YA:.*]] = memref.assume_alignment %[[Y]], 16
// CHECK: tile.launch @k grid(%{{.*}}) ins(%[[XA]], %[[YA]],
// CHECK-LABEL: tile.kernel private @k(
// CHECK-SAME: %[[A:.*]]: memref<?x512xf16> {llvm.noalias}, %[[B:.*]]: memref<512xf16> {llvm.noalias}, %{{.*}}: f32, %[[N:.*]]: index, %[[C:.*]]: memref<?x512xf16> {llvm.noalias})
// CHECK-DAG: tile.assume %[[A]] align 16 : memref<?x512xf16>
// CHECK-DAG: tile.assume %[[B]] align 16 : memref<512xf16>
// CHECK-DAG: %[[S:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG: tile.assume %[[N]] divisible 8 : index
// CHECK-DAG: tile.assume %[[C]] align 64 sizes [8, _] : memref<?x512xf16>
// CHECK: tile.print "{}", %[[S]] : f32
func.func @main(%x: memref<?x512xf16>, %y: memref<512xf16>) -> memref<?x512xf16> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %half = arith.constant 0.5 : f32
  %m = memref.dim %x, %c0 : memref<?x512xf16>
  %n = arith.muli %m, %c8 : index
  %z = memref.alloc(%n) : memref<?x512xf16>
  tile.launch @k grid(%m) ins(%x, %y, %half, %n : memref<?x512xf16>, memref<512xf16>, f32, index)
    outs(%z : memref<?x512xf16>)
  return %z : memref<?x512xf16>
}
tile.kernel private @k(%a: memref<?x512xf16>, %b: memref<512xf16>, %s: f32, %n: index, %c: memref<?x512xf16>) {
  %A = tile.view %a : memref<?x512xf16> to !tile.view<8x512xf16>
  %B = tile.view %b : memref<512xf16> to !tile.view<512xf16>
  %C = tile.view %c : memref<?x512xf16> to !tile.view<8x512xf16>
  tile.print "{}", %s : f32
  %v = tile.load %A[%n, %n] : !tile.view<8x512xf16> -> tensor<8x512xf16>
  %w = tile.load %B[%n] : !tile.view<512xf16> -> tensor<512xf16>
  %wb = tile.broadcast %w axes [0] : tensor<512xf16> -> tensor<8x512xf16>
  %r = arith.addf %v, %wb : tensor<8x512xf16>
  tile.store %r, %C[%n, %n] : tensor<8x512xf16>, !tile.view<8x512xf16>
  tile.return
}

// -----

// All launches agree: 64 and 4 * 6 bytes give 8; 0.5 and 2.0 give nothing; a dynamic offset leaves the element's 4.
// CHECK-LABEL: tile.kernel private @twice(
// CHECK-SAME: %[[A:.*]]: memref<4xf32, strided<[1], offset: ?>> {llvm.noalias}, %[[S:.*]]: f32, %[[B:.*]]: memref<4xf32, strided<[1], offset: ?>> {llvm.noalias})
// CHECK-NEXT: tile.assume %[[A]] align 8 :
// CHECK-NEXT: arith.constant 0 : index
// CHECK-NEXT: tile.print "{}", %[[S]] : f32
// CHECK-NEXT: tile.view
// CHECK-NEXT: tile.view %[[B]]
func.func @main(%at: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f32
  %two = arith.constant 2.0 : f32
  %x = memref.alloc() : memref<16xf32>
  %y = memref.alloc() : memref<16xf32>
  %x0 = memref.subview %x[0] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1]>>
  %x6 = memref.subview %x[6] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1], offset: 6>>
  %y1 = memref.subview %y[%at] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1], offset: ?>>
  %a = memref.cast %x0 : memref<4xf32, strided<[1]>> to memref<4xf32, strided<[1], offset: ?>>
  %b = memref.cast %x6 : memref<4xf32, strided<[1], offset: 6>> to memref<4xf32, strided<[1], offset: ?>>
  tile.launch @twice grid(%c1) ins(%a, %half : memref<4xf32, strided<[1], offset: ?>>, f32)
    outs(%y1 : memref<4xf32, strided<[1], offset: ?>>)
  tile.launch @twice grid(%c1) ins(%b, %two : memref<4xf32, strided<[1], offset: ?>>, f32)
    outs(%y1 : memref<4xf32, strided<[1], offset: ?>>)
  %r = memref.load %y[%c0] : memref<16xf32>
  return %r : f32
}
tile.kernel private @twice(%a: memref<4xf32, strided<[1], offset: ?>>, %s: f32,
                           %b: memref<4xf32, strided<[1], offset: ?>>) {
  %c0 = arith.constant 0 : index
  tile.print "{}", %s : f32
  %A = tile.view %a : memref<4xf32, strided<[1], offset: ?>> to !tile.view<4xf32>
  %B = tile.view %b : memref<4xf32, strided<[1], offset: ?>> to !tile.view<4xf32>
  %v = tile.load %A[%c0] : !tile.view<4xf32> -> tensor<4xf32>
  tile.store %v, %B[%c0] : tensor<4xf32>, !tile.view<4xf32>
  tile.return
}

// -----

// Both lie in one buffer, and one is written; the third has its own.
// CHECK-LABEL: tile.kernel private @shared(
// CHECK-SAME: %{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32> {llvm.noalias}, %{{.*}}: memref<8xf32>)
// What entries are given may be one buffer.
// CHECK-LABEL: tile.kernel private @given(
// CHECK-SAME: %{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32>)
// Unless it says not.
// CHECK-LABEL: tile.kernel private @apart(
// CHECK-SAME: %{{.*}}: memref<8xf32> {llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.noalias})
// Others may launch what is public.
// CHECK-LABEL: tile.kernel @public(
// CHECK-SAME: %{{.*}}: memref<8xf32>, %[[P:.*]]: memref<8xf32>)
// CHECK-NEXT: tile.return
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32> {llvm.noalias}) {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %c = memref.cast %a : memref<8xf32> to memref<?xf32>
  %d = memref.cast %c : memref<?xf32> to memref<8xf32>
  tile.launch @shared grid(%c1) ins(%a, %b : memref<8xf32>, memref<8xf32>) outs(%d : memref<8xf32>)
  tile.launch @given grid(%c1) ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  tile.launch @apart grid(%c1) ins(%x : memref<8xf32>) outs(%z : memref<8xf32>)
  tile.launch @public grid(%c1) ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
  memref.dealloc %a : memref<8xf32>
  memref.dealloc %b : memref<8xf32>
  return
}
tile.kernel private @shared(%a: memref<8xf32>, %b: memref<8xf32>, %c: memref<8xf32>) {
  tile.return
}
tile.kernel private @given(%a: memref<8xf32>, %b: memref<8xf32>) {
  tile.return
}
tile.kernel private @apart(%a: memref<8xf32>, %b: memref<8xf32>) {
  tile.return
}
tile.kernel @public(%a: memref<8xf32>, %b: memref<8xf32>) {
  tile.return
}

// -----

// Through a loop that swaps two buffers, branches, and a private function: what holds on every way.
// CHECK-LABEL: func.func private @step(
// CHECK-NOT: memref.assume_alignment
// CHECK-LABEL: tile.kernel private @k(
// CHECK-SAME: %[[A:.*]]: memref<8xf32>, %[[B:.*]]: memref<8xf32>)
// CHECK-NEXT: tile.assume %[[A]] align 64
// CHECK-NEXT: tile.assume %[[B]] align 64
func.func @main(%n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %p, %q = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (memref<8xf32>, memref<8xf32>) {
    func.call @step(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
    scf.yield %y, %x : memref<8xf32>, memref<8xf32>
  }
  %r = memref.load %p[%c0] : memref<8xf32>
  return %r : f32
}
func.func private @step(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @k grid(%c1) ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}
tile.kernel private @k(%a: memref<8xf32>, %b: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<8xf32> to !tile.view<8xf32>
  %B = tile.view %b : memref<8xf32> to !tile.view<8xf32>
  %v = tile.load %A[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  tile.store %v, %B[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// -----

// An entry that is called from within the module gets what its callers have: nothing is known of that.
// CHECK-LABEL: func.func @inner(
// CHECK-NOT: memref.assume_alignment
// CHECK: tile.kernel private @k(
// CHECK-NOT: tile.assume
// CHECK: tile.return
func.func @main(%x: memref<8xf32>) {
  func.call @inner(%x) : (memref<8xf32>) -> ()
  return
}
func.func @inner(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @k grid(%c1) outs(%x : memref<8xf32>)
  return
}
tile.kernel private @k(%a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %A = tile.view %a : memref<8xf32> to !tile.view<8xf32>
  %v = tile.load %A[%c0] : !tile.view<8xf32> -> tensor<8xf32>
  tile.store %v, %A[%c0] : tensor<8xf32>, !tile.view<8xf32>
  tile.return
}

// -----

// Grids: ids have a range where all launches have constants, sizes that are the same are constants.
// CHECK-LABEL: tile.kernel private @grid()
// CHECK: %[[I:.*]] = tile.program_id 0
// CHECK-NEXT: %[[X:.*]] = tile.assume %[[I]] range [0, 7] : index
// CHECK: %[[J:.*]] = tile.program_id 1
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[N:.*]] = tile.num_programs 0
// CHECK-NEXT: %[[M:.*]] = tile.assume %[[N]] range [1, 8] : index
// CHECK: %[[K:.*]] = tile.program_id 2
// CHECK-NEXT: tile.print "{} {} {} {}", %[[X]], %[[ZERO]], %[[M]], %[[K]]
func.func @main(%n: index) {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  tile.launch @grid grid(%c8, %c1, %n)
  tile.launch @grid grid(%c5)
  return
}
tile.kernel private @grid() {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %m = tile.num_programs 0
  %k = tile.program_id 2
  tile.print "{} {} {} {}", %i, %j, %m, %k : index, index, index, index
  tile.return
}
