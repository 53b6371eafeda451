// A product of bytes whose right factor lies along columns, for sm_90a: the factor is copied along k, then TMA and wgmma
// multiply. The emulator gives what the interpreter does at sizes that no tile divides.
// RUN: %tile_run %s --target=emulate:sm_90a --check-against=interpret --stats=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=SPECIAL < %t.json
// CHECK: result 0: right
// SPECIAL: "specialized": 1,
// SPECIAL: "turned": 1
module attributes {tile.machine = #tile.machine<"sm_90a", "cores" = 1>} {
func.func @main(%a: tensor<300x528xi8>, %b: tensor<528x272xi8>) -> tensor<300x272xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<300x272xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<300x272xi32>) -> tensor<300x272xi32>
  %c = linalg.matmul ins(%a, %b : tensor<300x528xi8>, tensor<528x272xi8>) outs(%f : tensor<300x272xi32>) -> tensor<300x272xi32>
  return %c : tensor<300x272xi32>
}
}
