// Constants that reach a kernel through scf.if, select, index_switch or a private function are read from the device.
// RUN: %tile_run %s --target=cpu --target=emulate:sm_80 --target=emulate:gfx942 --check-against=interpret | FileCheck %s
// CHECK: right
// CHECK-NOT: {{[1-9][0-9]* of}}
func.func private @scale(%c: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.mul ins(%c, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %b: tensor<1xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %d = arith.constant dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4xf32>
  %v = tensor.extract %b[%c0] : tensor<1xi32>
  %c = arith.cmpi sgt, %v, %z : i32
  %i = arith.index_cast %v : i32 to index
  %s = scf.if %c -> tensor<4xf32> { scf.yield %a : tensor<4xf32> } else { scf.yield %d : tensor<4xf32> }
  %t = arith.select %c, %d, %a : tensor<4xf32>
  %w = scf.index_switch %i -> tensor<4xf32> case 1 { scf.yield %a : tensor<4xf32> } default { scf.yield %d : tensor<4xf32> }
  %r0 = linalg.add ins(%x, %s : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r1 = linalg.add ins(%x, %t : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r2 = linalg.add ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r3 = call @scale(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r0, %r1, %r2, %r3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
