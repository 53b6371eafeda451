// RUN: %tile_opt %s --pass-pipeline='builtin.module(tile-flatten-constants)' | FileCheck %s

// Numbers become one row; addresses into them stay. LLVM may merge equal ones.
// CHECK: llvm.mlir.global private unnamed_addr constant @matrix(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00]> : tensor<6xf32>) {{.*}} : !llvm.array<6 x f32>
llvm.mlir.global private constant @matrix(dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>) {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<2 x array<3 x f32>>
// CHECK: llvm.mlir.global private unnamed_addr constant @resource(dense_resource<row> : tensor<4xi32>) {{.*}} : !llvm.array<4 x i32>
llvm.mlir.global private constant @resource(dense_resource<numbers> : tensor<2x2xi32>) {addr_space = 0 : i32} : !llvm.array<2 x array<2 x i32>>

// What stays: one element for all, one dimension, vectors, no data.
// CHECK: @splat({{.*}} : tensor<2x3xf32>) {{.*}} : !llvm.array<2 x array<3 x f32>>
llvm.mlir.global private constant @splat(dense<1.0> : tensor<2x3xf32>) {addr_space = 0 : i32} : !llvm.array<2 x array<3 x f32>>
// CHECK: @row({{.*}} : tensor<2xf32>) {{.*}} : !llvm.array<2 x f32>
llvm.mlir.global private constant @row(dense<[1.0, 2.0]> : tensor<2xf32>) {addr_space = 0 : i32} : !llvm.array<2 x f32>
// CHECK: @vectors({{.*}} : tensor<2x4xf32>) {{.*}} : !llvm.array<2 x vector<4xf32>>
llvm.mlir.global private constant @vectors(dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>) {addr_space = 0 : i32} : !llvm.array<2 x vector<4 x f32>>
// CHECK: llvm.mlir.global external @outside() {{.*}} : !llvm.array<2 x array<3 x f32>>
llvm.mlir.global external @outside() {addr_space = 0 : i32} : !llvm.array<2 x array<3 x f32>>

// CHECK: llvm.getelementptr {{.*}} !llvm.array<2 x array<3 x f32>>
llvm.func @first() -> f32 {
  %0 = llvm.mlir.addressof @matrix : !llvm.ptr
  %1 = llvm.getelementptr %0[0, 1, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<2 x array<3 x f32>>
  %2 = llvm.load %1 : !llvm.ptr -> f32
  llvm.return %2 : f32
}
{-#
  dialect_resources: {
    builtin: {
      numbers: "0x0400000001000000020000000300000004000000"
    }
  }
#-}
