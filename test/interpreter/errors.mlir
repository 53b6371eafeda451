// Every error of the contract stops the interpreter at the op at fault, with exit status 1 (docs/numerics.md §5).
// RUN: not %tile_run --target=interpret %s --entry=zero_divisor 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: errors.mlir:[[@LINE+26]]:{{[0-9]+}}: error: 'arith.divsi' op divides 3 by zero
// ZERO: tile-run: error: the interpreter stopped at 'arith.divsi': divides 3 by zero
// RUN: not %tile_run --target=interpret %s --entry=smallest 2>&1 | FileCheck %s --check-prefix=SMALLEST
// SMALLEST: .mlir:{{[0-9]+:[0-9]+}}: error: 'arith.remsi' op divides the smallest integer by -1
// RUN: not %tile_run --target=interpret %s --entry=outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: .mlir:{{[0-9]+:[0-9]+}}: error: 'tensor.extract' op is out of bounds: index 4 of dimension 0, which has size 4
// RUN: not %tile_run --target=interpret %s --entry=outside_memory 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: .mlir:{{[0-9]+:[0-9]+}}: error: 'memref.store' op is out of bounds: index -1 of dimension 0, which has size 2
// RUN: not %tile_run --target=interpret %s --entry=unwritten 2>&1 | FileCheck %s --check-prefix=UNWRITTEN
// UNWRITTEN: .mlir:{{[0-9]+:[0-9]+}}: error: 'memref.load' op reads an element that nobody wrote
// RUN: not %tile_run --target=interpret %s --entry=unwritten_tensor 2>&1 | FileCheck %s --check-prefix=TENSOR
// TENSOR: .mlir:{{[0-9]+:[0-9]+}}: error: 'func.func' op returns result 0, whose element 0 was never written
// RUN: not %tile_run --target=interpret %s --entry=asserts 2>&1 | FileCheck %s --check-prefix=ASSERT
// ASSERT: .mlir:{{[0-9]+:[0-9]+}}: error: 'cf.assert' op assertion failed: never
// An op without a location is reported at the function around it.
// RUN: not %tile_run --target=interpret %s --entry=nowhere 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: errors.mlir:[[@LINE+1]]:1: error: 'arith.divsi' op divides 3 by zero
func.func @nowhere() -> i32 {
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %q = arith.divsi %three, %zero : i32 loc(unknown)
  return %q : i32
}
func.func @zero_divisor() -> i32 {
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %q = arith.divsi %three, %zero : i32
  return %q : i32
}
func.func @smallest() -> i8 {
  %a = arith.constant -128 : i8
  %b = arith.constant -1 : i8
  %r = arith.remsi %a, %b : i8
  return %r : i8
}
func.func @outside() -> f32 {
  %t = arith.constant dense<1.0> : tensor<4xf32>
  %c4 = arith.constant 4 : index
  %x = tensor.extract %t[%c4] : tensor<4xf32>
  return %x : f32
}
func.func @outside_memory() {
  %m = memref.alloc() : memref<2xi32>
  %c = arith.constant -1 : index
  %v = arith.constant 7 : i32
  memref.store %v, %m[%c] : memref<2xi32>
  return
}
func.func @unwritten() -> i32 {
  %m = memref.alloc() : memref<2xi32>
  %c = arith.constant 1 : index
  %v = memref.load %m[%c] : memref<2xi32>
  return %v : i32
}
func.func @unwritten_tensor() -> tensor<2xi32> {
  %t = tensor.empty() : tensor<2xi32>
  return %t : tensor<2xi32>
}
func.func @asserts() {
  %false = arith.constant false
  cf.assert %false, "never"
  return
}
// Poison may be computed with, but not branched on or stored:
// RUN: not %tile_run --target=interpret %s --entry=poison_branch 2>&1 | FileCheck %s --check-prefix=BRANCH
// BRANCH: .mlir:{{[0-9]+:[0-9]+}}: error: 'scf.if' op depends on a poison value
// RUN: not %tile_run --target=interpret %s --entry=poison_stored 2>&1 | FileCheck %s --check-prefix=STORED
// STORED: .mlir:{{[0-9]+:[0-9]+}}: error: 'memref.store' op writes a poison value
// RUN: %tile_run --target=interpret %s --entry=poison_unused
func.func @poison_branch() {
  %one = arith.constant 1 : i32
  %max = arith.constant 2147483647 : i32
  %wrapped = arith.addi %max, %one overflow<nsw> : i32
  %c = arith.cmpi slt, %wrapped, %one : i32
  scf.if %c {
    scf.yield
  }
  return
}
func.func @poison_stored(%m: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %x = arith.constant 1.0e10 : f32
  %i = arith.fptosi %x : f32 to i32
  memref.store %i, %m[%c0] : memref<1xi32>
  return
}
func.func @poison_unused() -> i32 {
  %width = arith.constant 32 : i32
  %poison = arith.shli %width, %width : i32
  %true = arith.constant true
  %chosen = arith.select %true, %width, %poison : i32
  return %chosen : i32
}
// RUN: not %tile_run --target=interpret %s --entry=unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'vector.vscale' op not interpreted yet: 'vector.vscale'
func.func @unknown() -> index {
  %y = vector.vscale
  return %y : index
}
// Recursion works, and ends with an error before the stack does:
// RUN: %tile_run --target=interpret %s --entry=factorial_of_ten
// RUN: not %tile_run --target=interpret %s --entry=endless 2>&1 | FileCheck %s --check-prefix=ENDLESS
// ENDLESS: errors.mlir:[[@LINE+23]]:3: error: 'func.call' op calls nest too deep for the interpreter's stack
func.func @factorial(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %done = arith.cmpi sle, %n, %one : i64
  %r = scf.if %done -> i64 {
    scf.yield %one : i64
  } else {
    %m = arith.subi %n, %one : i64
    %f = func.call @factorial(%m) : (i64) -> i64
    %p = arith.muli %n, %f : i64
    scf.yield %p : i64
  }
  return %r : i64
}
func.func @factorial_of_ten() {
  %ten = arith.constant 10 : i64
  %f = call @factorial(%ten) : (i64) -> i64
  %e = arith.constant 3628800 : i64
  %same = arith.cmpi eq, %f, %e : i64
  cf.assert %same, "10! is 3628800"
  return
}
func.func @endless() {
  call @endless() : () -> ()
  return
}

// A loop without end runs into the budget:
// RUN: not %tile_run --target=interpret %s --entry=forever --max-steps=10000 2>&1 | FileCheck %s --check-prefix=FOREVER
// FOREVER: .mlir:{{[0-9]+:[0-9]+}}: error: {{.*}} op the program has taken more than 10000 steps; it looks endless
func.func @forever() {
  scf.while : () -> () {
    %true = arith.constant true
    scf.condition(%true)
  } do {
    scf.yield
  }
  return
}

// An element type it does not know is named:
// RUN: not %tile_run --target=interpret %s --entry=wide 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: .mlir:{{[0-9]+:[0-9]+}}: error: 'arith.extsi' op not interpreted yet: elements of i64 or i128
func.func @wide(%x: i64) -> i64 {
  %w = arith.extsi %x : i64 to i128
  %y = arith.trunci %w : i128 to i64
  return %y : i64
}

// More memory than there is:
// RUN: not %tile_run --target=interpret %s --entry=huge 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: errors.mlir:[[@LINE+2]]:8: error: 'memref.alloc' op out of memory
func.func @huge() {
  %m = memref.alloc() : memref<1000000000xf64>
  return
}
// Memory after its end, or ended twice:
// RUN: not %tile_run --target=interpret %s --entry=after 2>&1 | FileCheck %s --check-prefix=AFTER
// AFTER: .mlir:{{[0-9]+:[0-9]+}}: error: 'memref.store' op uses memory that was deallocated
func.func @after() {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<1xindex>
  memref.dealloc %m : memref<1xindex>
  memref.store %c0, %m[%c0] : memref<1xindex>
  return
}
// Places of a sparse product that do not ascend:
// RUN: not %tile_run --target=interpret %s --entry=equal_places 2>&1 | FileCheck %s --check-prefix=PLACES
// PLACES: .mlir:{{[0-9]+:[0-9]+}}: error: 'tile.mma_sparse' op has elements 2 and 3 of row 1 at 2 and 2 of four, expected ascending indices
tile.kernel @places() {
  %a = arith.constant dense<1> : tensor<2x4xi8>
  %p = arith.constant dense<[[228], [164]]> : tensor<2x1xi8>
  %b = arith.constant dense<1> : tensor<8x2xi8>
  %c = arith.constant dense<0> : tensor<2x2xi32>
  %d = tile.mma_sparse %a at %p, %b, %c : tensor<2x4xi8>, tensor<2x1xi8>, tensor<8x2xi8> -> tensor<2x2xi32>
  tile.print "{}", %d : tensor<2x2xi32>
  tile.return
}
func.func @equal_places() {
  %c1 = arith.constant 1 : index
  tile.launch @places grid(%c1)
  return
}

// Sizes whose product has more than 63 bits, and arrays beyond what the interpreter holds, are named:
// RUN: not %tile_run --target=interpret %s --entry=too_large 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: .mlir:{{[0-9]+:[0-9]+}}: error: 'tensor.empty' op makes an array of 4611686018427387904 x 4 elements; the interpreter holds up to 2^30 in one
// RUN: not %tile_run --target=interpret %s --entry=huge_square 2>&1 | FileCheck %s --check-prefix=SQUARE
// SQUARE: .mlir:{{[0-9]+:[0-9]+}}: error: 'memref.alloc' op makes an array of 4294967296 x 4294967296 elements
// RUN: not %tile_run --target=interpret %s --entry=huge_beside_empty 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: 'cf.assert' op assertion failed: it has no elements
func.func @too_large() -> f32 {
  %z = arith.constant 1.0 : f32
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4611686018427387904x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4611686018427387904x4xf32>) -> tensor<4611686018427387904x4xf32>
  %v = tensor.extract %f[%c1, %c1] : tensor<4611686018427387904x4xf32>
  return %v : f32
}
func.func @huge_square() {
  %n = arith.constant 4294967296 : index
  %m = memref.alloc(%n, %n) : memref<?x?xf32>
  return
}
func.func @huge_beside_empty() {
  %n = arith.constant 4611686018427387904 : index
  %c0 = arith.constant 0 : index
  %e = tensor.empty(%n, %n, %c0) : tensor<?x?x?xf32>
  %size = tensor.dim %e, %c0 : tensor<?x?x?xf32>
  %same = arith.cmpi eq, %size, %c0 : index
  cf.assert %same, "it has no elements"
  return
}

// A pack or unpack whose tiles are not those of the plain tensor:
// RUN: not %tile_run --target=interpret %s --entry=packs 2>&1 | FileCheck %s --check-prefix=PACK
// PACK: .mlir:{{[0-9]+:[0-9]+}}: error: 'linalg.pack' op has 10 tiles of 1 in dimension 0 for 4 elements; expected 4
// RUN: not %tile_run --target=interpret %s --entry=unpacks 2>&1 | FileCheck %s --check-prefix=UNPACK
// UNPACK: .mlir:{{[0-9]+:[0-9]+}}: error: 'linalg.unpack' op has 20 tiles of 16 in dimension 1 for 40 elements; expected 3
func.func @packs() -> tensor<10x20x16xf32> {
  %zero = arith.constant 0.0 : f32
  %s = arith.constant dense<1.0> : tensor<4x320xf32>
  %source = tensor.cast %s : tensor<4x320xf32> to tensor<?x?xf32>
  %e = tensor.empty() : tensor<10x20x16xf32>
  %p = linalg.pack %source padding_value(%zero : f32) inner_dims_pos = [1] inner_tiles = [16] into %e
      : tensor<?x?xf32> -> tensor<10x20x16xf32>
  return %p : tensor<10x20x16xf32>
}
func.func @unpacks() -> tensor<?x?xf32> {
  %s = arith.constant dense<1.0> : tensor<4x20x16xf32>
  %e = tensor.empty() : tensor<4x40xf32>
  %to = tensor.cast %e : tensor<4x40xf32> to tensor<?x?xf32>
  %p = linalg.unpack %s inner_dims_pos = [1] inner_tiles = [16] into %to : tensor<4x20x16xf32> -> tensor<?x?xf32>
  return %p : tensor<?x?xf32>
}

// A function without a body that is none of those that print:
// RUN: not %tile_run --target=interpret %s --entry=calls_outside 2>&1 | FileCheck %s --check-prefix=CALLS
// CALLS: .mlir:{{[0-9]+:[0-9]+}}: error: 'func.call' op not interpreted yet: a call of 'elsewhere', which has no body
func.func private @elsewhere()
func.func @calls_outside() {
  func.call @elsewhere() : () -> ()
  return
}
