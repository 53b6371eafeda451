// RUN: %tile_opt %s --pass-pipeline="builtin.module(func.func(tile-look-up-narrow-floats{chip=znver5}))" | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline="builtin.module(func.func(tile-look-up-narrow-floats{chip=x86-64-v4}))" | FileCheck %s --check-prefix=NONE

// NONE-NOT: call_intrinsic

// Two neighbours: one load, the upper and the lower byte of each number's bf16.
// CHECK-LABEL: func.func @pair
// CHECK: %[[CODES:.*]] = vector.load %arg0[%arg1, %c0] : memref<8x32xf8E4M3FN>, vector<32xf8E4M3FN>
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.qi.512"
// CHECK: %[[FIRST:.*]] = vector.bitcast %{{.*}} : vector<32xi16> to vector<16xf32>
// CHECK: %[[SECOND:.*]] = vector.bitcast %{{.*}} : vector<32xi16> to vector<16xf32>
// CHECK-NOT: arith.extf
// CHECK: return %[[FIRST]], %[[SECOND]]
func.func @pair(%m: memref<8x32xf8E4M3FN>, %i: index) -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %a = vector.load %m[%i, %c0] : memref<8x32xf8E4M3FN>, vector<16xf8E4M3FN>
  %x = arith.extf %a : vector<16xf8E4M3FN> to vector<16xf32>
  %b = vector.load %m[%i, %c16] : memref<8x32xf8E4M3FN>, vector<16xf8E4M3FN>
  %y = arith.extf %b : vector<16xf8E4M3FN> to vector<16xf32>
  return %x, %y : vector<16xf32>, vector<16xf32>
}

// Neighbours from any place on.
// CHECK-LABEL: func.func @from
// CHECK: vector.load %arg0[%arg1, %arg2] : memref<8x64xf8E4M3FN>, vector<32xf8E4M3FN>
// CHECK-COUNT-2: llvm.call_intrinsic
// CHECK-NOT: arith.extf
// CHECK: return
func.func @from(%m: memref<8x64xf8E4M3FN>, %i: index, %k: index) -> (vector<16xf32>, vector<16xf32>) {
  %c16 = arith.constant 16 : index
  %l = arith.addi %k, %c16 : index
  %a = vector.load %m[%i, %k] : memref<8x64xf8E4M3FN>, vector<16xf8E4M3FN>
  %x = arith.extf %a : vector<16xf8E4M3FN> to vector<16xf32>
  %b = vector.load %m[%i, %l] : memref<8x64xf8E4M3FN>, vector<16xf8E4M3FN>
  %y = arith.extf %b : vector<16xf8E4M3FN> to vector<16xf32>
  return %x, %y : vector<16xf32>, vector<16xf32>
}

// What is stored between may be what the second one reads.
// CHECK-LABEL: func.func @stored
// CHECK-NOT: call_intrinsic
// CHECK: return
func.func @stored(%m: memref<8x32xf8E4M3FN>, %i: index, %v: vector<16xf8E4M3FN>) -> (vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %a = vector.load %m[%i, %c0] : memref<8x32xf8E4M3FN>, vector<16xf8E4M3FN>
  %x = arith.extf %a : vector<16xf8E4M3FN> to vector<16xf32>
  vector.store %v, %m[%i, %c16] : memref<8x32xf8E4M3FN>, vector<16xf8E4M3FN>
  %b = vector.load %m[%i, %c16] : memref<8x32xf8E4M3FN>, vector<16xf8E4M3FN>
  %y = arith.extf %b : vector<16xf8E4M3FN> to vector<16xf32>
  return %x, %y : vector<16xf32>, vector<16xf32>
}

// Other rows, another distance, and another type are no neighbours.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: call_intrinsic
// CHECK: return
func.func @apart(%m: memref<8x64xf8E4M3FN>, %n: memref<8x32xf8E5M2>, %i: index, %j: index)
    -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %a = vector.load %m[%i, %c0] : memref<8x64xf8E4M3FN>, vector<16xf8E4M3FN>
  %x = arith.extf %a : vector<16xf8E4M3FN> to vector<16xf32>
  %b = vector.load %m[%j, %c16] : memref<8x64xf8E4M3FN>, vector<16xf8E4M3FN>
  %y = arith.extf %b : vector<16xf8E4M3FN> to vector<16xf32>
  %c = vector.load %m[%i, %c32] : memref<8x64xf8E4M3FN>, vector<16xf8E4M3FN>
  %z = arith.extf %c : vector<16xf8E4M3FN> to vector<16xf32>
  %d = vector.load %n[%i, %c0] : memref<8x32xf8E5M2>, vector<16xf8E5M2>
  %v = arith.extf %d : vector<16xf8E5M2> to vector<16xf32>
  %e = vector.load %n[%i, %c16] : memref<8x32xf8E5M2>, vector<16xf8E5M2>
  %w = arith.extf %e : vector<16xf8E5M2> to vector<16xf32>
  return %x, %y, %z, %v, %w : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
}
