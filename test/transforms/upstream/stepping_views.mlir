// Subviews of lower rank that step and keep a size of 1 crashed upstream's passes of buffers (library mutant 242).
// RUN: %tile_run %s --size=2 --seed=5 --target=cpu --check-against=interpret | FileCheck %s
// CHECK: argument 0: right
// CHECK: argument 1: right
func.func @main(%a: memref<4x1xi32>, %b: memref<1x9x1xi32>, %k: tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %k, %c0 : tensor<?xi32>
  %seven = arith.constant 7 : i32
  %row = memref.subview %a[%n, 0] [1, 1] [1, %n] : memref<4x1xi32> to memref<1xi32, strided<[?], offset: ?>>
  memref.store %seven, %row[%c0] : memref<1xi32, strided<[?], offset: ?>>
  %part = memref.subview %b[0, %n, 0] [1, 4, 1] [1, %n, 1] : memref<1x9x1xi32> to memref<4x1xi32, strided<[?, 1], offset: ?>>
  scf.for %i = %c0 to %c3 step %c1 {
    %x = memref.load %part[%i, %c0] : memref<4x1xi32, strided<[?, 1], offset: ?>>
    %y = arith.addi %x, %seven : i32
    memref.store %y, %part[%i, %c0] : memref<4x1xi32, strided<[?, 1], offset: ?>>
  }
  return
}
