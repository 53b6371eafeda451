// No elementary function of f32, f16 or bf16 is left, whatever the shape; f64, tensors and integers stay as they are.
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-expand-math))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --pass-pipeline='builtin.module(tile-expand-math)' | FileCheck %s
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-expand-math{fast=true}))' | FileCheck %s --check-prefix=FAST
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-expand-math{f64=true}))' | FileCheck %s --check-prefix=F64
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-expand-math{tables=true chip=znver5}))' | FileCheck %s --check-prefix=TABLES
// RUN: %tile_opt %s --pass-pipeline='builtin.module(func.func(tile-expand-math{tables=true chip=haswell}))' | FileCheck %s

// One rounding, from f64.
// CHECK-LABEL: func @exp
// CHECK-NOT: math.exp
// CHECK: arith.extf {{.*}} : vector<16xf32> to vector<16xf64>
// CHECK: math.fma {{.*}} : vector<16xf64>
// CHECK: %[[Y:.*]] = arith.truncf {{.*}} : vector<16xf64> to vector<16xf32>
// CHECK-NEXT: return %[[Y]]
// An approximation stays in f32.
// Of 16 lanes, AVX-512 looks coefficients up; lanes whose result is no normal number are rounded from f64.
// TABLES-LABEL: func @exp
// TABLES-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// TABLES: %[[ALL:.*]] = vector.reduction <and>
// TABLES: scf.if %[[ALL]] -> (vector<16xf32>) {
// TABLES: } else {
// TABLES: arith.truncf {{.*}} : vector<16xf64> to vector<16xf32>
// TABLES: return
// FAST-LABEL: func @exp
// FAST-NOT: f64
// FAST-NOT: math.exp
// FAST: math.fma {{.*}} : vector<16xf32>
// FAST: return
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// Whoever permits an approximate function of f32 gets f32 lanes without the option; of GPUs, too. f16 goes there once.
// CHECK-LABEL: func @permitted
// CHECK-NOT: {{f64|math.(exp|tanh|erf)}}
// CHECK: arith.truncf {{.*}} : vector<4xf32> to vector<4xf16>
// CHECK-NOT: f64
// CHECK: return
// Tables of erf and tanh are faster than what 1 ulp takes without them; those of exp are not. Four lanes have none.
// TABLES-LABEL: func @permitted
// TABLES-NOT: vpermi2var
// TABLES: math.fma
// TABLES-COUNT-20: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
// TABLES-NOT: vpermi2var
// TABLES: return
// F64-LABEL: func @permitted
// F64-NOT: {{f64|math.(exp|tanh|erf)}}
// F64: return
func.func @permitted(%x: vector<16xf32>, %y: vector<4xf16>) -> (vector<16xf32>, vector<4xf16>) {
  %0 = math.exp %x fastmath<afn> : vector<16xf32>
  %1 = math.erf %0 fastmath<nnan,afn> : vector<16xf32>
  %2 = math.tanh %1 fastmath<fast> : vector<16xf32>
  %3 = math.exp2 %y fastmath<afn> : vector<4xf16>
  return %2, %3 : vector<16xf32>, vector<4xf16>
}

// Another permission is none.
// CHECK-LABEL: func @not_permitted
// CHECK: arith.truncf {{.*}} : f64 to f32
func.func @not_permitted(%x: f32) -> f32 {
  %0 = math.exp %x fastmath<reassoc,nnan,ninf,nsz,arcp,contract> : f32
  return %0 : f32
}

// A maximum that keeps nan and the sign of zero is x86's in both orders, joined by bits; GPUs have an instruction.
// CHECK-LABEL: func @extrema
// CHECK-SAME: (%[[A:.*]]: vector<8xf32>, %[[B:.*]]: vector<8xf32>
// CHECK: %[[C:.*]] = arith.cmpf ogt, %[[B]], %[[A]]
// CHECK: %[[M:.*]] = arith.select %[[C]], %[[B]], %[[A]]
// CHECK: %[[D:.*]] = arith.cmpf ogt, %[[A]], %[[B]]
// CHECK: arith.select %[[D]], %[[A]], %[[B]]
// CHECK: arith.ori
// CHECK: arith.andi
// CHECK: arith.cmpf olt
// CHECK: arith.ori
// CHECK-NOT: arith.m{{ax|in}}imumf
// CHECK: arith.maximumf {{.*}} : tensor<2xf32>
// F64-LABEL: func @extrema
// F64: llvm.intr.maximum
// F64: llvm.intr.minimum
func.func @extrema(%a: vector<8xf32>, %b: vector<8xf32>, %c: f64, %d: f64, %t: tensor<2xf32>, %u: tensor<2xf32>)
    -> (vector<8xf32>, f64, tensor<2xf32>) {
  %0 = arith.maximumf %a, %b : vector<8xf32>
  %1 = arith.minimumf %c, %d : f64
  %2 = arith.maximumf %t, %u : tensor<2xf32>
  return %0, %1, %2 : vector<8xf32>, f64, tensor<2xf32>
}

// A constant that is neither nan nor zero needs no bits; neither does an op that does not care for the sign of zero.
// CHECK-LABEL: func @extrema_of_constants
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32
// CHECK-DAG: %[[SIX:.*]] = arith.constant 6.0
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[L:.*]] = arith.cmpf olt, %[[SIX]], %[[X]]
// CHECK-NEXT: %[[S:.*]] = arith.select %[[L]], %[[SIX]], %[[X]]
// CHECK-NEXT: %[[G:.*]] = arith.cmpf ugt, %[[S]], %[[ZERO]]
// CHECK-NEXT: %[[R:.*]] = arith.select %[[G]], %[[S]], %[[ZERO]]
// CHECK-NEXT: arith.cmpf uno, %[[Y]], %[[Y]]
// CHECK-NEXT: arith.cmpf ogt, %[[Y]], %[[R]]
// CHECK-NOT: arith.ori
// CHECK: return
func.func @extrema_of_constants(%x: f32, %y: f32) -> f32 {
  %six = arith.constant 6.0 : f32
  %zero = arith.constant 0.0 : f32
  %0 = arith.minimumf %x, %six : f32
  %1 = arith.maximumf %0, %zero : f32
  %2 = arith.maximumf %1, %y fastmath<nsz> : f32
  return %2 : f32
}

// CHECK-LABEL: func @every_function
// CHECK-NOT: math.{{exp|log|tanh|erf|sin|cos|pow|rsqrt}}
// CHECK: return
// FAST-LABEL: func @every_function
// FAST-NOT: math.{{exp|log|tanh|erf|sin|cos|pow|rsqrt}}
// FAST: return
func.func @every_function(%x: f32, %y: f32) -> f32 {
  %0 = math.exp %x : f32
  %1 = math.exp2 %0 : f32
  %2 = math.log %1 : f32
  %3 = math.log2 %2 : f32
  %4 = math.tanh %3 : f32
  %5 = math.erf %4 : f32
  %6 = math.sin %5 : f32
  %7 = math.cos %6 : f32
  %8 = math.rsqrt %7 : f32
  %9 = math.powf %8, %y : f32
  return %9 : f32
}

// CHECK-LABEL: func @shapes
// CHECK: arith.extf {{.*}} : vector<f32> to vector<f64>
// CHECK: arith.truncf {{.*}} : vector<f64> to vector<f32>
// CHECK: arith.extf {{.*}} : vector<3x5xf32> to vector<3x5xf64>
// CHECK: arith.truncf {{.*}} : vector<3x5xf64> to vector<3x5xf32>
func.func @shapes(%x: vector<f32>, %y: vector<3x5xf32>) -> (vector<f32>, vector<3x5xf32>) {
  %0 = math.erf %x : vector<f32>
  %1 = math.tanh %y : vector<3x5xf32>
  return %0, %1 : vector<f32>, vector<3x5xf32>
}

// CHECK-LABEL: func @by_way_of_f32
// CHECK: %[[A:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: arith.extf %[[A]] : f32 to f64
// CHECK: %[[B:.*]] = arith.truncf {{.*}} : f64 to f32
// CHECK: arith.truncf %[[B]] : f32 to f16
// CHECK: arith.extf {{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK: arith.truncf {{.*}} : vector<8xf32> to vector<8xbf16>
func.func @by_way_of_f32(%x: f16, %y: vector<8xbf16>) -> (f16, vector<8xbf16>) {
  %0 = math.log %x : f16
  %1 = math.cos %y : vector<8xbf16>
  return %0, %1 : f16, vector<8xbf16>
}

// CHECK-LABEL: func @left_alone
// CHECK-SAME: (%[[X:.*]]: f64, %[[T:.*]]: tensor<4xf32>, %[[S:.*]]: vector<[4]xf32>, %[[F:.*]]: f32, %[[I:.*]]: i32)
// CHECK-NEXT: math.exp %[[X]] : f64
// CHECK-NEXT: math.exp %[[T]] : tensor<4xf32>
// CHECK-NEXT: math.exp %[[S]] : vector<[4]xf32>
// CHECK-NEXT: math.sqrt %[[F]] : f32
// CHECK-NEXT: math.ctpop %[[I]] : i32
// CHECK-NEXT: return
// FAST-LABEL: func @left_alone
// FAST-COUNT-3: math.exp
func.func @left_alone(%x: f64, %t: tensor<4xf32>, %s: vector<[4]xf32>, %f: f32, %i: i32)
    -> (f64, tensor<4xf32>, vector<[4]xf32>, f32, i32) {
  %0 = math.exp %x : f64
  %1 = math.exp %t : tensor<4xf32>
  %2 = math.exp %s : vector<[4]xf32>
  %3 = math.sqrt %f : f32
  %4 = math.ctpop %i : i32
  return %0, %1, %2, %3, %4 : f64, tensor<4xf32>, vector<[4]xf32>, f32, i32
}

// With f64=true nothing is left to a C library; otherwise f64 stays.
// CHECK-LABEL: func @for_gpus
// CHECK-NOT: math.atan2
// CHECK: math.exp %{{.*}} : f64
// CHECK-NOT: math.atan2
// CHECK: return
// F64-LABEL: func @for_gpus
// F64-NOT: math.{{exp|atan}}
// F64: return
func.func @for_gpus(%x: f64, %y: f32) -> (f64, f32) {
  %0 = math.exp %x : f64
  %1 = math.atan2 %y, %y : f32
  return %0, %1 : f64, f32
}

// With f64=true, for GPUs: exp2 of f32 is an instruction where the flag permits its two ulp; extrema always are one.
// F64-LABEL: func @instructions
// F64: math.exp2 %{{.*}} fastmath<afn> : f32
// F64-NOT: math.exp2
// F64: llvm.intr.maximum
// F64: llvm.intr.minnum
// F64: arith.maximumf %{{.*}} : f8E5M2
// CHECK-LABEL: func @instructions
// CHECK-NOT: llvm.
// CHECK: return
func.func @instructions(%x: f32, %y: vector<2xf16>, %w: vector<2xf16>, %z: f8E5M2, %u: f8E5M2) -> (f32, f32, vector<2xf16>, f32, f8E5M2) {
  %0 = math.exp2 %x fastmath<afn> : f32
  %1 = math.exp2 %x fastmath<contract> : f32
  %2 = arith.maximumf %y, %w : vector<2xf16>
  %3 = arith.minnumf %0, %x : f32
  %4 = arith.maximumf %z, %u : f8E5M2
  return %0, %1, %2, %3, %4 : f32, f32, vector<2xf16>, f32, f8E5M2
}

// Powers of integers are multiplications everywhere; of an f32 to an integer one power of f64.
// CHECK-LABEL: func @to_integers
// CHECK-NOT: math.{{ipowi|fpowi}}
// CHECK: return
func.func @to_integers(%x: vector<4xi8>, %y: f32, %n: i32) -> (vector<4xi8>, f32) {
  %0 = math.ipowi %x, %x : vector<4xi8>
  %1 = math.fpowi %y, %n : f32, i32
  return %0, %1 : vector<4xi8>, f32
}
