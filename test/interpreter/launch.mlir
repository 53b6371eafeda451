// What a grid may not do, and what a kernel's checks report (docs/numerics.md §5, §6).
tile.kernel @write(%y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant dense<1.0> : tensor<2xf32>
  %Y = tile.view %y : memref<4xf32> to !tile.view<2xf32>
  // WRITE: launch.mlir:[[@LINE+1]]:3: error: 'tile.store' op program instances touch one element: instance 1 writes what instance 0 wrote; without atomics or combine that is an error
  tile.store %one, %Y[%c0] : tensor<2xf32>, !tile.view<2xf32>
  tile.return
}
// RUN: not %tile_run --target=interpret %s --entry=two_write 2>&1 | FileCheck %s --check-prefix=WRITE
// RUN: %tile_run --target=interpret %s --entry=one_writes
func.func @two_write(%y: memref<4xf32>) {
  %c2 = arith.constant 2 : index
  tile.launch @write grid(%c2) outs(%y : memref<4xf32>)
  return
}
func.func @one_writes(%y: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tile.launch @write grid(%c1) outs(%y : memref<4xf32>)
  tile.launch @write grid(%c1) outs(%y : memref<4xf32>)
  return
}

// A neighbour's element is read while it may be written:
// RUN: not %tile_run --target=interpret %s --entry=reads_and_writes 2>&1 | FileCheck %s --check-prefix=READ
// READ: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.store' op program instances touch one element: instance 1 writes what instance 0 read
tile.kernel @shift(%y: memref<4xf32>) {
  %i = tile.program_id 0
  %c1 = arith.constant 1 : index
  %next = arith.addi %i, %c1 : index
  %Y = tile.view %y : memref<4xf32> to !tile.view<1xf32>
  %v = tile.load %Y[%next] : !tile.view<1xf32> -> tensor<1xf32>
  tile.store %v, %Y[%i] : tensor<1xf32>, !tile.view<1xf32>
  tile.return
}
func.func @reads_and_writes(%y: memref<4xf32>) {
  %c4 = arith.constant 4 : index
  tile.launch @shift grid(%c4) outs(%y : memref<4xf32>)
  return
}

// With combine all instances may add to one place; the sum is right:
// RUN: %tile_run --target=interpret %s --entry=combines
tile.kernel @add(%y: memref<2xi32>) {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %x = arith.index_cast %i : index to i32
  %v = tile.broadcast %x : i32 -> tensor<2xi32>
  %Y = tile.view %y : memref<2xi32> to !tile.view<2xi32>
  tile.store %v, %Y[%c0] combine(add) : tensor<2xi32>, !tile.view<2xi32>
  tile.return
}
func.func @combines() {
  %c10 = arith.constant 10 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<5> : tensor<2xi32>
  %sums = tile.launch @add grid(%c10) outs(%zero : tensor<2xi32>) -> tensor<2xi32>
  %sum = tensor.extract %sums[%c1] : tensor<2xi32>
  %expected = arith.constant 50 : i32
  %same = arith.cmpi eq, %sum, %expected : i32
  cf.assert %same, "5 + 0 + 1 + … + 9"
  %before = tensor.extract %zero[%c1] : tensor<2xi32>
  %five = arith.constant 5 : i32
  %kept = arith.cmpi eq, %before, %five : i32
  cf.assert %kept, "the operand is not written"
  return
}

// RUN: not %tile_run --target=interpret %s --entry=asserts 2>&1 | FileCheck %s --check-prefix=ASSERT
// ASSERT: x is [0, 1, 2, 3]
// ASSERT: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.assert' op assertion failed at element 2: small enough
// RUN: not %tile_run --target=interpret %s --entry=assumes 2>&1 | FileCheck %s --check-prefix=ASSUME
// ASSUME: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.assume' op does not hold: 12 is not divisible by 8
// RUN: not %tile_run --target=interpret %s --entry=gathers 2>&1 | FileCheck %s --check-prefix=GATHER
// GATHER: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.gather' op is out of bounds: index 4 of dimension 0, which has size 4
// RUN: not %tile_run --target=interpret %s --entry=slices 2>&1 | FileCheck %s --check-prefix=SLICE
// SLICE: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.slice' op is out of bounds: offset 12, size 4 in axis 0, which has size 8
tile.kernel @asserting(%n: index, %y: memref<4xi32>) {
  %x = tile.iota dim 0 : tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %small = arith.cmpi slt, %x, %two : tensor<4xi32>
  tile.print "x is {}", %x : tensor<4xi32>
  tile.assert %small, "small enough" : tensor<4xi1>
  tile.return
}
tile.kernel @assuming(%n: index, %y: memref<4xi32>) {
  %m = tile.assume %n divisible 8 : index
  %c = arith.constant 1 : i32
  memref.store %c, %y[%m] : memref<4xi32>
  tile.return
}
tile.kernel @gathering(%n: index, %y: memref<4xi32>) {
  %one = arith.constant 1 : i32
  %at = tile.iota dim 0 from %one : tensor<4xi32>
  %v = tile.gather %y[%at] bounds(trap) : memref<4xi32>[tensor<4xi32>] -> tensor<4xi32>
  %Y = tile.view %y : memref<4xi32> to !tile.view<4xi32>
  %c0 = arith.constant 0 : index
  tile.store %v, %Y[%c0] : tensor<4xi32>, !tile.view<4xi32>
  tile.return
}
tile.kernel @slicing(%n: index, %y: memref<4xi32>) {
  %x = tile.iota dim 0 : tensor<8xi32>
  %v = tile.slice %x[%n] : tensor<8xi32> -> tensor<4xi32>
  %Y = tile.view %y : memref<4xi32> to !tile.view<4xi32>
  %c0 = arith.constant 0 : index
  tile.store %v, %Y[%c0] : tensor<4xi32>, !tile.view<4xi32>
  tile.return
}
func.func @asserts(%y: memref<4xi32>) {
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  tile.launch @asserting grid(%c1) ins(%c12 : index) outs(%y : memref<4xi32>)
  return
}
func.func @assumes(%y: memref<4xi32>) {
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  tile.launch @assuming grid(%c1) ins(%c12 : index) outs(%y : memref<4xi32>)
  return
}
func.func @gathers(%y: memref<4xi32>) {
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  tile.launch @gathering grid(%c1) ins(%c12 : index) outs(%y : memref<4xi32>)
  return
}
func.func @slices(%y: memref<4xi32>) {
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  tile.launch @slicing grid(%c1) ins(%c12 : index) outs(%y : memref<4xi32>)
  return
}
