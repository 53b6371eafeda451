// What a program prints, the interpreter prints as compiled code does; as a judge it prints nothing.
// RUN: %tile_run --target=interpret %s > %t.interpret
// RUN: %tile_run --target=cpu %s > %t.cpu
// RUN: sed 's/base@ = [0-9a-fx]*/base@/' %t.interpret > %t.left
// RUN: sed 's/base@ = [0-9a-fx]*/base@/' %t.cpu > %t.right
// RUN: cmp %t.left %t.right
// RUN: FileCheck %s < %t.interpret
// RUN: %tile_run --target=cpu %s --check-against=interpret | FileCheck %s --check-prefix=ONCE
// ONCE-COUNT-1: hello
// ONCE-NOT: hello
// RUN: not %tile_run --target=interpret %s --entry=prints_unwritten 2>&1 | FileCheck %s --check-prefix=UNWRITTEN
// UNWRITTEN: error: 'func.call' op prints an element that nobody wrote
func.func private @printMemrefF32(memref<*xf32>)
func.func private @printMemrefI32(memref<*xi32>)
func.func private @printMemrefI8(memref<*xi8>)
func.func private @printF64(f64)
func.func private @printNewline()

// CHECK: ( ( 1, 2.5 ), ( 3, inf ) )
// CHECK-NEXT: hello
// CHECK-NEXT: 1
// CHECK-NEXT: -7, ( -3, -3, -3 )
// CHECK-NEXT: rank = 2 offset = 0 sizes = [2, 3] strides = [3, 1] data =
// CHECK-NEXT: {{\[\[}}0.5,   0.5,   0.5],
// CHECK-NEXT: [0.5,   0.5,   0.5]]
// CHECK-NEXT: rank = 0 offset = 0 sizes = [] strides = [] data =
// CHECK-NEXT: [9]
// CHECK-NEXT: rank = 1 offset = 0 sizes = [2] strides = [1] data =
// CHECK-NEXT: [z,  z]
// CHECK-NEXT: 1.25
func.func @main() {
  %c = arith.constant dense<[[1.0, 2.5], [3.0, 0x7F800000]]> : vector<2x2xf32>
  vector.print %c : vector<2x2xf32>
  vector.print str "hello\n"
  %true = arith.constant true
  vector.print %true : i1
  %i = arith.constant -7 : i32
  vector.print %i : i32 punctuation <comma>
  %s = arith.constant dense<-3> : vector<3xi8>
  vector.print %s : vector<3xi8>
  %half = arith.constant 0.5 : f32
  %m = memref.alloc() : memref<2x3xf32>
  linalg.fill ins(%half : f32) outs(%m : memref<2x3xf32>)
  %u = memref.cast %m : memref<2x3xf32> to memref<*xf32>
  func.call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  %nine = arith.constant 9 : i32
  %n = memref.alloc() : memref<i32>
  memref.store %nine, %n[] : memref<i32>
  %v = memref.cast %n : memref<i32> to memref<*xi32>
  func.call @printMemrefI32(%v) : (memref<*xi32>) -> ()
  %z = arith.constant 122 : i8
  %letters = memref.alloc() : memref<2xi8>
  linalg.fill ins(%z : i8) outs(%letters : memref<2xi8>)
  %w = memref.cast %letters : memref<2xi8> to memref<*xi8>
  func.call @printMemrefI8(%w) : (memref<*xi8>) -> ()
  %d = arith.constant 1.25 : f64
  func.call @printF64(%d) : (f64) -> ()
  func.call @printNewline() : () -> ()
  return
}
func.func @prints_unwritten() {
  %m = memref.alloc() : memref<2x3xf32>
  %u = memref.cast %m : memref<2x3xf32> to memref<*xf32>
  func.call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  return
}
