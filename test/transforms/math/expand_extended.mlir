// Ops with two results become ops with one: through wider integers, or by halves of 64 bits. The program asserts what
// Python says of the numbers, before and after.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-expand-extended))' -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(func.func(tile-expand-extended))' | FileCheck %s
// RUN: %tile_run %s --target=interpret --entry=main
// RUN: %tile_run %t.mlir --target=interpret --entry=main
// RUN: sed 's/arith.shrui/arith.shrsi/' %t.mlir > %t.wrong.mlir
// RUN: not %tile_run %t.wrong.mlir --target=interpret --entry=main 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: the high half
// CHECK-NOT: _extended
// CHECK-LABEL: func.func @vectors
// CHECK: arith.extui %{{.*}} : vector<4xi16> to vector<4xi32>
// CHECK: arith.cmpi ult
func.func @vectors(%a: vector<4xi16>, %b: vector<4xi16>) -> (vector<4xi16>, vector<4xi1>) {
  %l, %h = arith.mului_extended %a, %b : vector<4xi16>
  %s, %c = arith.addui_extended %l, %h : vector<4xi16>, vector<4xi1>
  return %s, %c : vector<4xi16>, vector<4xi1>
}
func.func @check64(%a: i64, %b: i64, %low: i64, %high: i64, %signed: i64, %sum: i64, %carry: i1) {
  %l, %h = arith.mului_extended %a, %b : i64
  %sl, %sh = arith.mulsi_extended %a, %b : i64
  %s, %c = arith.addui_extended %a, %b : i64, i1
  %0 = arith.cmpi eq, %l, %low : i64
  cf.assert %0, "the low half"
  %1 = arith.cmpi eq, %h, %high : i64
  cf.assert %1, "the high half"
  %2 = arith.cmpi eq, %sl, %low : i64
  cf.assert %2, "the low half of a signed product"
  %3 = arith.cmpi eq, %sh, %signed : i64
  cf.assert %3, "the high half of a signed product"
  %4 = arith.cmpi eq, %s, %sum : i64
  cf.assert %4, "the sum"
  %5 = arith.cmpi eq, %c, %carry : i1
  cf.assert %5, "the carry"
  return
}
func.func @check32(%a: i32, %b: i32, %low: i32, %high: i32, %signed: i32, %sum: i32, %carry: i1) {
  %l, %h = arith.mului_extended %a, %b : i32
  %sl, %sh = arith.mulsi_extended %a, %b : i32
  %s, %c = arith.addui_extended %a, %b : i32, i1
  %0 = arith.cmpi eq, %l, %low : i32
  cf.assert %0, "the low half"
  %1 = arith.cmpi eq, %h, %high : i32
  cf.assert %1, "the high half"
  %2 = arith.cmpi eq, %sl, %low : i32
  cf.assert %2, "the low half of a signed product"
  %3 = arith.cmpi eq, %sh, %signed : i32
  cf.assert %3, "the high half of a signed product"
  %4 = arith.cmpi eq, %s, %sum : i32
  cf.assert %4, "the sum"
  %5 = arith.cmpi eq, %c, %carry : i1
  cf.assert %5, "the carry"
  return
}
func.func @check8(%a: i8, %b: i8, %low: i8, %high: i8, %signed: i8, %sum: i8, %carry: i1) {
  %l, %h = arith.mului_extended %a, %b : i8
  %sl, %sh = arith.mulsi_extended %a, %b : i8
  %s, %c = arith.addui_extended %a, %b : i8, i1
  %0 = arith.cmpi eq, %l, %low : i8
  cf.assert %0, "the low half"
  %1 = arith.cmpi eq, %h, %high : i8
  cf.assert %1, "the high half"
  %2 = arith.cmpi eq, %sl, %low : i8
  cf.assert %2, "the low half of a signed product"
  %3 = arith.cmpi eq, %sh, %signed : i8
  cf.assert %3, "the high half of a signed product"
  %4 = arith.cmpi eq, %s, %sum : i8
  cf.assert %4, "the sum"
  %5 = arith.cmpi eq, %c, %carry : i1
  cf.assert %5, "the carry"
  return
}
func.func @main() {
  %a64_0 = arith.constant -1 : i64
  %b64_0 = arith.constant 2 : i64
  %c64_0 = arith.constant -2 : i64
  %d64_0 = arith.constant 1 : i64
  %e64_0 = arith.constant -1 : i64
  %f64_0 = arith.constant 1 : i64
  %g64_0 = arith.constant true
  call @check64(%a64_0, %b64_0, %c64_0, %d64_0, %e64_0, %f64_0, %g64_0) : (i64, i64, i64, i64, i64, i64, i1) -> ()
  %a64_1 = arith.constant 1311768467463790320 : i64
  %b64_1 = arith.constant -81985529216486896 : i64
  %c64_1 = arith.constant 2552847189736476416 : i64
  %d64_1 = arith.constant 1305938385386173474 : i64
  %e64_1 = arith.constant -5830082077616846 : i64
  %f64_1 = arith.constant 1229782938247303424 : i64
  %g64_1 = arith.constant true
  call @check64(%a64_1, %b64_1, %c64_1, %d64_1, %e64_1, %f64_1, %g64_1) : (i64, i64, i64, i64, i64, i64, i1) -> ()
  %a64_2 = arith.constant -9223372036854775808 : i64
  %b64_2 = arith.constant -9223372036854775808 : i64
  %c64_2 = arith.constant 0 : i64
  %d64_2 = arith.constant 4611686018427387904 : i64
  %e64_2 = arith.constant 4611686018427387904 : i64
  %f64_2 = arith.constant 0 : i64
  %g64_2 = arith.constant true
  call @check64(%a64_2, %b64_2, %c64_2, %d64_2, %e64_2, %f64_2, %g64_2) : (i64, i64, i64, i64, i64, i64, i1) -> ()
  %a64_3 = arith.constant 7 : i64
  %b64_3 = arith.constant 9 : i64
  %c64_3 = arith.constant 63 : i64
  %d64_3 = arith.constant 0 : i64
  %e64_3 = arith.constant 0 : i64
  %f64_3 = arith.constant 16 : i64
  %g64_3 = arith.constant false
  call @check64(%a64_3, %b64_3, %c64_3, %d64_3, %e64_3, %f64_3, %g64_3) : (i64, i64, i64, i64, i64, i64, i1) -> ()
  %a64_4 = arith.constant -4294967295 : i64
  %b64_4 = arith.constant 4294967295 : i64
  %c64_4 = arith.constant 8589934591 : i64
  %d64_4 = arith.constant 4294967294 : i64
  %e64_4 = arith.constant -1 : i64
  %f64_4 = arith.constant 0 : i64
  %g64_4 = arith.constant true
  call @check64(%a64_4, %b64_4, %c64_4, %d64_4, %e64_4, %f64_4, %g64_4) : (i64, i64, i64, i64, i64, i64, i1) -> ()
  %a64_5 = arith.constant -9223372036854775807 : i64
  %b64_5 = arith.constant 9223372036854775807 : i64
  %c64_5 = arith.constant -1 : i64
  %d64_5 = arith.constant 4611686018427387903 : i64
  %e64_5 = arith.constant -4611686018427387904 : i64
  %f64_5 = arith.constant 0 : i64
  %g64_5 = arith.constant true
  call @check64(%a64_5, %b64_5, %c64_5, %d64_5, %e64_5, %f64_5, %g64_5) : (i64, i64, i64, i64, i64, i64, i1) -> ()
  %a32_0 = arith.constant -1 : i32
  %b32_0 = arith.constant 2 : i32
  %c32_0 = arith.constant -2 : i32
  %d32_0 = arith.constant 1 : i32
  %e32_0 = arith.constant -1 : i32
  %f32_0 = arith.constant 1 : i32
  %g32_0 = arith.constant true
  call @check32(%a32_0, %b32_0, %c32_0, %d32_0, %e32_0, %f32_0, %g32_0) : (i32, i32, i32, i32, i32, i32, i1) -> ()
  %a32_1 = arith.constant -1698898192 : i32
  %b32_1 = arith.constant 1985229328 : i32
  %c32_1 = arith.constant 1444466432 : i32
  %d32_1 = arith.constant 1199960830 : i32
  %e32_1 = arith.constant -785268498 : i32
  %f32_1 = arith.constant 286331136 : i32
  %g32_1 = arith.constant true
  call @check32(%a32_1, %b32_1, %c32_1, %d32_1, %e32_1, %f32_1, %g32_1) : (i32, i32, i32, i32, i32, i32, i1) -> ()
  %a32_2 = arith.constant 0 : i32
  %b32_2 = arith.constant 0 : i32
  %c32_2 = arith.constant 0 : i32
  %d32_2 = arith.constant 0 : i32
  %e32_2 = arith.constant 0 : i32
  %f32_2 = arith.constant 0 : i32
  %g32_2 = arith.constant false
  call @check32(%a32_2, %b32_2, %c32_2, %d32_2, %e32_2, %f32_2, %g32_2) : (i32, i32, i32, i32, i32, i32, i1) -> ()
  %a32_3 = arith.constant 7 : i32
  %b32_3 = arith.constant 9 : i32
  %c32_3 = arith.constant 63 : i32
  %d32_3 = arith.constant 0 : i32
  %e32_3 = arith.constant 0 : i32
  %f32_3 = arith.constant 16 : i32
  %g32_3 = arith.constant false
  call @check32(%a32_3, %b32_3, %c32_3, %d32_3, %e32_3, %f32_3, %g32_3) : (i32, i32, i32, i32, i32, i32, i1) -> ()
  %a32_4 = arith.constant 1 : i32
  %b32_4 = arith.constant -1 : i32
  %c32_4 = arith.constant -1 : i32
  %d32_4 = arith.constant 0 : i32
  %e32_4 = arith.constant -1 : i32
  %f32_4 = arith.constant 0 : i32
  %g32_4 = arith.constant true
  call @check32(%a32_4, %b32_4, %c32_4, %d32_4, %e32_4, %f32_4, %g32_4) : (i32, i32, i32, i32, i32, i32, i1) -> ()
  %a32_5 = arith.constant 1 : i32
  %b32_5 = arith.constant -1 : i32
  %c32_5 = arith.constant -1 : i32
  %d32_5 = arith.constant 0 : i32
  %e32_5 = arith.constant -1 : i32
  %f32_5 = arith.constant 0 : i32
  %g32_5 = arith.constant true
  call @check32(%a32_5, %b32_5, %c32_5, %d32_5, %e32_5, %f32_5, %g32_5) : (i32, i32, i32, i32, i32, i32, i1) -> ()
  %a8_0 = arith.constant -1 : i8
  %b8_0 = arith.constant 2 : i8
  %c8_0 = arith.constant -2 : i8
  %d8_0 = arith.constant 1 : i8
  %e8_0 = arith.constant -1 : i8
  %f8_0 = arith.constant 1 : i8
  %g8_0 = arith.constant true
  call @check8(%a8_0, %b8_0, %c8_0, %d8_0, %e8_0, %f8_0, %g8_0) : (i8, i8, i8, i8, i8, i8, i1) -> ()
  %a8_1 = arith.constant -16 : i8
  %b8_1 = arith.constant 16 : i8
  %c8_1 = arith.constant 0 : i8
  %d8_1 = arith.constant 15 : i8
  %e8_1 = arith.constant -1 : i8
  %f8_1 = arith.constant 0 : i8
  %g8_1 = arith.constant true
  call @check8(%a8_1, %b8_1, %c8_1, %d8_1, %e8_1, %f8_1, %g8_1) : (i8, i8, i8, i8, i8, i8, i1) -> ()
  %a8_2 = arith.constant 0 : i8
  %b8_2 = arith.constant 0 : i8
  %c8_2 = arith.constant 0 : i8
  %d8_2 = arith.constant 0 : i8
  %e8_2 = arith.constant 0 : i8
  %f8_2 = arith.constant 0 : i8
  %g8_2 = arith.constant false
  call @check8(%a8_2, %b8_2, %c8_2, %d8_2, %e8_2, %f8_2, %g8_2) : (i8, i8, i8, i8, i8, i8, i1) -> ()
  %a8_3 = arith.constant 7 : i8
  %b8_3 = arith.constant 9 : i8
  %c8_3 = arith.constant 63 : i8
  %d8_3 = arith.constant 0 : i8
  %e8_3 = arith.constant 0 : i8
  %f8_3 = arith.constant 16 : i8
  %g8_3 = arith.constant false
  call @check8(%a8_3, %b8_3, %c8_3, %d8_3, %e8_3, %f8_3, %g8_3) : (i8, i8, i8, i8, i8, i8, i1) -> ()
  %a8_4 = arith.constant 1 : i8
  %b8_4 = arith.constant -1 : i8
  %c8_4 = arith.constant -1 : i8
  %d8_4 = arith.constant 0 : i8
  %e8_4 = arith.constant -1 : i8
  %f8_4 = arith.constant 0 : i8
  %g8_4 = arith.constant true
  call @check8(%a8_4, %b8_4, %c8_4, %d8_4, %e8_4, %f8_4, %g8_4) : (i8, i8, i8, i8, i8, i8, i1) -> ()
  %a8_5 = arith.constant 1 : i8
  %b8_5 = arith.constant -1 : i8
  %c8_5 = arith.constant -1 : i8
  %d8_5 = arith.constant 0 : i8
  %e8_5 = arith.constant -1 : i8
  %f8_5 = arith.constant 0 : i8
  %g8_5 = arith.constant true
  call @check8(%a8_5, %b8_5, %c8_5, %d8_5, %e8_5, %f8_5, %g8_5) : (i8, i8, i8, i8, i8, i8, i1) -> ()
  return
}
