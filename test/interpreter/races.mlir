// Which meetings of two program instances are errors: not those through atomics, nor different elements of one word.
#nibbles = #tile.layout<offset [8:d0]>

// RUN: %tile_run --target=interpret %s --entry=counts
tile.kernel @count(%n: memref<1xi32>, %order: memref<4xi32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %mine = tile.atomic_rmw add %one, %n[%c0] relaxed device : i32, memref<1xi32> -> i32
  %seen = tile.atomic_load %n[%c0] relaxed device : memref<1xi32> -> i32
  %at = arith.index_cast %mine : i32 to index
  memref.store %seen, %order[%at] : memref<4xi32>
  tile.return
}
func.func @counts() {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0> : tensor<1xi32>
  %e = tensor.empty() : tensor<4xi32>
  %n, %order = tile.launch @count grid(%c4) outs(%zero, %e : tensor<1xi32>, tensor<4xi32>) -> tensor<1xi32>, tensor<4xi32>
  %x = tensor.extract %n[%c0] : tensor<1xi32>
  %four = arith.constant 4 : i32
  %same = arith.cmpi eq, %x, %four : i32
  cf.assert %same, "all four have counted"
  return
}

// A plain read of what others update atomically is one:
// RUN: not %tile_run --target=interpret %s --entry=peeks 2>&1 | FileCheck %s --check-prefix=PEEKS
// PEEKS: races.mlir:[[@LINE+4]]:10: error: 'tile.atomic_rmw' op program instances touch one element: instance 1 updates atomically what instance 0 read
tile.kernel @peek(%n: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %old = tile.atomic_rmw add %one, %n[%c0] relaxed device : i32, memref<1xi32> -> i32
  %x = memref.load %n[%c0] : memref<1xi32>
  tile.return
}
func.func @peeks() {
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0> : tensor<1xi32>
  %n = tile.launch @peek grid(%c4) outs(%zero : tensor<1xi32>) -> tensor<1xi32>
  return
}

// Four instances write two nibbles each of one word.
// RUN: %tile_run --target=interpret %s --entry=shares
// RUN: not %tile_run --target=interpret %s --entry=overlaps 2>&1 | FileCheck %s --check-prefix=OVERLAPS
// OVERLAPS: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.store' op program instances touch one element: instance 1 writes what instance 0 wrote
tile.kernel @nibbles(%step: index, %w: memref<1xi32>) {
  %i = tile.program_id 0
  %at = arith.muli %i, %step : index
  %W = tile.view %w : memref<1xi32> to !tile.view<2xi4, steps = [1], packed = #nibbles>
  %n = arith.index_cast %at : index to i32
  %x = tile.iota dim 0 from %n : tensor<2xi32>
  %v = arith.trunci %x : tensor<2xi32> to tensor<2xi4>
  tile.store %v, %W[%at] : tensor<2xi4>, !tile.view<2xi4, steps = [1], packed = #nibbles>
  tile.return
}
func.func @shares() {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %m = memref.alloc() : memref<1xi32>
  tile.launch @nibbles grid(%c4) ins(%c2 : index) outs(%m : memref<1xi32>)
  %x = memref.load %m[%c0] : memref<1xi32>
  %want = arith.constant 0x76543210 : i32
  %same = arith.cmpi eq, %x, %want : i32
  cf.assert %same, "each nibble holds its number"
  return
}
func.func @overlaps() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %m = memref.alloc() : memref<1xi32>
  tile.launch @nibbles grid(%c4) ins(%c1 : index) outs(%m : memref<1xi32>)
  return
}

// A layout that does not place every element once is refused:
// RUN: not %tile_run --target=interpret %s --entry=half 2>&1 | FileCheck %s --check-prefix=HALF
// HALF: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.view' op not interpreted: a packed view requires words of integers and a layout that places each of a word's elements once
tile.kernel @four(%w: memref<1xi32>) {
  %W = tile.view %w : memref<1xi32> to !tile.view<2xi4, packed = #tile.layout<offset [4:d0]>>
  tile.return
}
func.func @half() {
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<1xi32>
  tile.launch @four grid(%c1) outs(%m : memref<1xi32>)
  return
}
