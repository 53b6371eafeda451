// Conversions of floats of 8 bits and fewer, and truncations in a direction, become arithmetic; what the machine has
// stays. test/run/types/float_formats.test has the numbers.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-expand-float-conversions))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(tile-expand-float-conversions)' | FileCheck %s

// The upper half of f16.
// CHECK-LABEL: func @half_of_half
// CHECK: arith.bitcast %{{.*}} : vector<16xf8E5M2> to vector<16xi8>
// CHECK: %[[H:.*]] = arith.bitcast %{{.*}} : vector<16xi16> to vector<16xf16>
// CHECK-NEXT: %[[Y:.*]] = arith.extf %[[H]] : vector<16xf16> to vector<16xf32>
// CHECK-NEXT: return %[[Y]]
func.func @half_of_half(%x: vector<16xf8E5M2>) -> vector<16xf32> {
  %y = arith.extf %x : vector<16xf8E5M2> to vector<16xf32>
  return %y : vector<16xf32>
}

// The exponent's field is narrower than that of f16: subnormal numbers are f16's. All ones are nan: adding one to the
// fraction carries into the highest bit of f16's exponent.
// CHECK-LABEL: func @by_half
// CHECK-NOT: arith.cmpi
// CHECK: arith.addi %{{.*}} : vector<16xi16>
// CHECK: %[[H:.*]] = arith.bitcast %{{.*}} : vector<16xi16> to vector<16xf16>
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[H]] : vector<16xf16> to vector<16xf32>
// CHECK: arith.mulf %[[W]], %{{.*}} : vector<16xf32>
// CHECK-NEXT: return
func.func @by_half(%x: vector<16xf8E4M3FN>) -> vector<16xf32> {
  %y = arith.extf %x : vector<16xf8E4M3FN> to vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func @scale
// CHECK-NOT: arith.select
// CHECK: %[[S:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK-NEXT: return %[[S]]
func.func @scale(%x: f8E8M0FNU) -> f32 {
  %y = arith.extf %x : f8E8M0FNU to f32
  return %y : f32
}

// CHECK-LABEL: func @both_ways
// CHECK-NOT: arith.extf {{.*}}f4E2M1FN
// CHECK-NOT: arith.truncf {{.*}} to f8E4M3FN
// CHECK: return
func.func @both_ways(%x: f4E2M1FN) -> f8E4M3FN {
  %y = arith.extf %x : f4E2M1FN to f8E4M3FN
  return %y : f8E4M3FN
}

// CHECK-LABEL: func @direction
// CHECK: math.floor {{.*}} : vector<4xf64>
// CHECK: %[[A:.*]] = arith.truncf %{{.*}} : vector<4xf64> to vector<4xf32>
// CHECK: %[[B:.*]] = arith.truncf %[[A]] : vector<4xf32> to vector<4xf16>
// CHECK: return %[[B]]
func.func @direction(%x: vector<4xf32>) -> vector<4xf16> {
  %y = arith.truncf %x downward : vector<4xf32> to vector<4xf16>
  return %y : vector<4xf16>
}

// CHECK-LABEL: func @left_alone
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: arith.extf %{{.*}} : bf16 to f32
// CHECK-NEXT: arith.extf %{{.*}} : tensor<4xf8E5M2> to tensor<4xf32>
// CHECK-NEXT: return
func.func @left_alone(%x: f32, %b: bf16, %t: tensor<4xf8E5M2>) -> (f16, f32, tensor<4xf32>) {
  %0 = arith.truncf %x : f32 to f16
  %1 = arith.extf %b : bf16 to f32
  %2 = arith.extf %t : tensor<4xf8E5M2> to tensor<4xf32>
  return %0, %1, %2 : f16, f32, tensor<4xf32>
}
