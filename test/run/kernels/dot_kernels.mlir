// RUN: grep '^//' %s > %t.mlir
// RUN: %tile_opt %s --pass-pipeline='builtin.module(linalg-generalize-named-ops,tile-group-ops,convert-linalg-to-tile)' >> %t.mlir
// RUN: FileCheck %s --check-prefix=ATOMS < %t.mlir && %python %source/test/run/check.py %tile_run %t.mlir --target=interpret
// What the lowering makes of products for a CPU with dot instructions, interpreted as kernels, whatever this host has.
// ATOMS-DAG: atom "vpdpbusd"
// ATOMS-DAG: atom "vdpbf16ps"
// in: integers(-128, 128, 9, 71).astype(i8), integers(-128, 128, 71, 33).astype(i8), integers(-1000, 1000, 9, 33), integers(0x3c00, 0x4000, 9, 21).astype(np.uint16), integers(0xbc00, 0xc000, 21, 34).astype(np.uint16)
// expect: (x0.astype(i64) @ x1.astype(i64) + x2).astype(i32)
// expect: (x3.astype(np.uint32) << 16).view(f32).astype(f64) @ (x4.astype(np.uint32) << 16).view(f32).astype(f64)
// tolerance: 1e-5
module attributes {tile.machine = #tile.machine<"x86-64-v4", "atom.vdpbf16ps" = "1x16x2 bf16,bf16,f32", "atom.vpdpbusd" = "1x16x4 i8,i8,i32">} {
  func.func @main(%a: tensor<9x71xi8>, %b: tensor<71x33xi8>, %c: tensor<9x33xi32>, %x: tensor<9x21xbf16>, %y: tensor<21x34xbf16>) -> (tensor<9x33xi32>, tensor<9x34xf32>) {
    %p = linalg.matmul ins(%a, %b : tensor<9x71xi8>, tensor<71x33xi8>) outs(%c : tensor<9x33xi32>) -> tensor<9x33xi32>
    %zero = arith.constant dense<0.0> : tensor<9x34xf32>
    %q = linalg.matmul ins(%x, %y : tensor<9x21xbf16>, tensor<21x34xbf16>) outs(%zero : tensor<9x34xf32>) -> tensor<9x34xf32>
    return %p, %q : tensor<9x33xi32>, tensor<9x34xf32>
  }
}
