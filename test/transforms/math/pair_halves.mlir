// Numbers of f16 that share a register are computed two at a time; codes of a byte become f16 by an exclusive or with 1024.
// The numbers themselves: test/run/products/low_bit_gpu.test, block_scaled_gpu.test, test/run/types/quantized.test.
// RUN: %tile_opt %s --tile-pair-halves --canonicalize --cse --split-input-file | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline="builtin.module(tile-pair-halves,canonicalize,cse)" --split-input-file | FileCheck %s

// Signed nibbles of two bytes of one word: 0x6408 is 1024 with the sign bit of the code turned over. One scale.
// CHECK-LABEL: func.func @nibbles
// CHECK: %[[BYTES:.*]] = llvm.shufflevector %arg0, %{{.*}} [0, 4, 1, 4] : vector<4xi8>
// CHECK: %[[WORD:.*]] = llvm.bitcast %[[BYTES]] : vector<4xi8> to i32
// CHECK: %[[SHIFTED:.*]] = arith.shrui %[[WORD]], %c4_i32
// CHECK: %[[CODES:.*]] = arith.andi %[[SHIFTED]], %c983055_i32
// CHECK: %[[BITS:.*]] = arith.xori %[[CODES]], %c1678271496_i32
// CHECK: %[[HALVES:.*]] = llvm.bitcast %[[BITS]] : i32 to vector<2xf16>
// CHECK: %[[NUMBERS:.*]] = arith.subf %[[HALVES]], %cst{{.*}} : vector<2xf16>
// CHECK: %[[W:.*]] = arith.mulf %[[NUMBERS]], %{{.*}} : vector<2xf16>
// CHECK: return %[[W]]
func.func @nibbles(%v: vector<4xi8>, %scale: f16) -> vector<2xf16> {
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i8
  %a = llvm.extractelement %v[%0 : i32] : vector<4xi8>
  %b = llvm.extractelement %v[%1 : i32] : vector<4xi8>
  %a4 = arith.shrui %a, %c4 : i8
  %b4 = arith.shrui %b, %c4 : i8
  %an = arith.trunci %a4 : i8 to i4
  %bn = arith.trunci %b4 : i8 to i4
  %af = arith.sitofp %an : i4 to f32
  %bf = arith.sitofp %bn : i4 to f32
  %s = arith.extf %scale : f16 to f32
  %ap = arith.mulf %af, %s : f32
  %bp = arith.mulf %bf, %s : f32
  %ah = arith.truncf %ap : f32 to f16
  %bh = arith.truncf %bp : f32 to f16
  %u = llvm.mlir.undef : vector<2xf16>
  %x = llvm.insertelement %ah, %u[%0 : i32] : vector<2xf16>
  %y = llvm.insertelement %bh, %x[%1 : i32] : vector<2xf16>
  return %y : vector<2xf16>
}

// -----

// Different parts of the bytes, an f32 that f16 does not have, and a third factor before the rounding: each is left.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: {{(subf|mulf).*}} : vector<2xf16>
// CHECK: return
func.func @stays(%a: i8, %b: i8, %p: f32, %scale: f16, %third: f16) -> (vector<2xf16>, vector<2xf16>, vector<2xf16>) {
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i8
  %a4 = arith.shrui %a, %c4 : i8
  %an = arith.trunci %a4 : i8 to i4
  %bn = arith.trunci %b : i8 to i4
  %af = arith.sitofp %an : i4 to f32
  %bf = arith.sitofp %bn : i4 to f32
  %s = arith.extf %scale : f16 to f32
  %t = arith.extf %third : f16 to f32
  %ap = arith.mulf %af, %s : f32
  %bp = arith.mulf %bf, %s : f32
  %ah = arith.truncf %ap : f32 to f16
  %bh = arith.truncf %bp : f32 to f16
  %u = llvm.mlir.undef : vector<2xf16>
  %x = llvm.insertelement %ah, %u[%0 : i32] : vector<2xf16>
  %y = llvm.insertelement %bh, %x[%1 : i32] : vector<2xf16>
  %ao = arith.mulf %af, %p : f32
  %bo = arith.mulf %af, %s : f32
  %aoh = arith.truncf %ao : f32 to f16
  %boh = arith.truncf %bo : f32 to f16
  %v = llvm.insertelement %aoh, %u[%0 : i32] : vector<2xf16>
  %w = llvm.insertelement %boh, %v[%1 : i32] : vector<2xf16>
  %at = arith.mulf %ap, %t : f32
  %bt = arith.mulf %bo, %t : f32
  %ath = arith.truncf %at : f32 to f16
  %bth = arith.truncf %bt : f32 to f16
  %q = llvm.insertelement %ath, %u[%0 : i32] : vector<2xf16>
  %r = llvm.insertelement %bth, %q[%1 : i32] : vector<2xf16>
  return %y, %w, %r : vector<2xf16>, vector<2xf16>, vector<2xf16>
}

// -----

// f8E4M3FN: nan by a carry, times 2^8. A scale of f32 is multiplied one by one; the floats are widened together.
// CHECK-LABEL: func.func @floats
// CHECK: arith.addi %{{.*}}, %c8388736_i32
// CHECK: arith.ori
// CHECK: %[[H:.*]] = arith.mulf %{{.*}}, %cst{{.*}} : vector<2xf16>
// CHECK: %[[A:.*]] = llvm.extractelement %[[H]]
// CHECK: arith.extf %[[A]] : f16 to f32
// CHECK: arith.mulf {{.*}} : f32
func.func @floats(%a: i8, %b: i8, %s: f32) -> vector<2xf16> {
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %an = arith.bitcast %a : i8 to f8E4M3FN
  %bn = arith.bitcast %b : i8 to f8E4M3FN
  %af = arith.extf %an : f8E4M3FN to f32
  %bf = arith.extf %bn : f8E4M3FN to f32
  %ap = arith.mulf %af, %s : f32
  %bp = arith.mulf %bf, %s : f32
  %ah = arith.truncf %ap : f32 to f16
  %bh = arith.truncf %bp : f32 to f16
  %u = llvm.mlir.undef : vector<2xf16>
  %x = llvm.insertelement %ah, %u[%0 : i32] : vector<2xf16>
  %y = llvm.insertelement %bh, %x[%1 : i32] : vector<2xf16>
  return %y : vector<2xf16>
}

// -----

// A zero of four bits that is the same for both, and is found by a shift that is not known.
// CHECK-LABEL: func.func @zeros
// CHECK-COUNT-2: arith.subf {{.*}} : vector<2xf16>
// CHECK: arith.mulf {{.*}} : vector<2xf16>
func.func @zeros(%a: i8, %b: i8, %z: i8, %at: i8, %scale: f16) -> vector<2xf16> {
  %0 = arith.constant 0 : i32
  %1 = arith.constant 1 : i32
  %zs = arith.shrui %z, %at : i8
  %an = arith.trunci %a : i8 to i4
  %bn = arith.trunci %b : i8 to i4
  %zn = arith.trunci %zs : i8 to i4
  %af = arith.uitofp %an : i4 to f32
  %bf = arith.uitofp %bn : i4 to f32
  %zf = arith.uitofp %zn : i4 to f32
  %ad = arith.subf %af, %zf : f32
  %bd = arith.subf %bf, %zf : f32
  %s = arith.extf %scale : f16 to f32
  %ap = arith.mulf %ad, %s : f32
  %bp = arith.mulf %bd, %s : f32
  %ah = arith.truncf %ap : f32 to f16
  %bh = arith.truncf %bp : f32 to f16
  %u = llvm.mlir.undef : vector<2xf16>
  %x = llvm.insertelement %ah, %u[%0 : i32] : vector<2xf16>
  %y = llvm.insertelement %bh, %x[%1 : i32] : vector<2xf16>
  return %y : vector<2xf16>
}

// -----

// Floats that go to places apart: two bytes of one word are widened together; two of two words are not.
// CHECK-LABEL: func.func @apart
// CHECK: %[[H:.*]] = arith.mulf %{{.*}}, %cst{{.*}} : vector<2xf16>
// CHECK-DAG: %[[A:.*]] = llvm.extractelement %[[H]][%c0_i32
// CHECK-DAG: %[[B:.*]] = llvm.extractelement %[[H]][%c1_i32
// CHECK: %[[C:.*]] = arith.extf {{.*}} : f8E4M3FN to f16
// CHECK-NOT: vector<2xf16>
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @apart(%v: vector<8xi8>) -> (f16, f16, f16) {
  %2 = arith.constant 2 : i32
  %3 = arith.constant 3 : i32
  %4 = arith.constant 4 : i32
  %a = llvm.extractelement %v[%2 : i32] : vector<8xi8>
  %b = llvm.extractelement %v[%3 : i32] : vector<8xi8>
  %c = llvm.extractelement %v[%4 : i32] : vector<8xi8>
  %an = arith.bitcast %a : i8 to f8E4M3FN
  %bn = arith.bitcast %b : i8 to f8E4M3FN
  %cn = arith.bitcast %c : i8 to f8E4M3FN
  %ah = arith.extf %an : f8E4M3FN to f16
  %bh = arith.extf %bn : f8E4M3FN to f16
  %ch = arith.extf %cn : f8E4M3FN to f16
  return %ah, %bh, %ch : f16, f16, f16
}
