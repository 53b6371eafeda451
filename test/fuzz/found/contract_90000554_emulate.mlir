// Program 90000554 of the second generator, cut down: 0xB1 is the first byte of the emulator's mark for memory that nobody has
// written, and the other bytes of the word lie behind the buffer's end.
// RUN: %python %source/test/fuzz/fuzz.py --tools=%build/bin --target=cpu,emulate:sm_80,emulate:gfx942 --replay %s | FileCheck %s
// CHECK-COUNT-3: right
// in: normal f8E5M2 31 1
func.func @main(%a: tensor<31xf8E5M2>) -> tensor<f8E5M2> {
  %start = arith.constant dense<0xB1> : tensor<f8E5M2>
  %r = linalg.reduce { arith.minnumf } ins(%a : tensor<31xf8E5M2>) outs(%start : tensor<f8E5M2>) dimensions = [0]
  return %r : tensor<f8E5M2>
}
