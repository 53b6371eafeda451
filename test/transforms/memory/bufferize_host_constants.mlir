// Constants are numbered in the order of their uses, in every run. Upstream numbers them in the order of a hash table.
// RUN: %tile_opt %s --tile-bufferize-host | FileCheck %s
// CHECK:      memref.global "private" constant @__constant_2xf32 : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT: memref.global "private" constant @__constant_2xi32 : memref<2xi32> = dense<[7, 8]>
// CHECK-NEXT: memref.global "private" constant @__constant_2xf32_0 : memref<2xf32> = dense<[3.000000e+00, 4.000000e+00]>
// CHECK-NEXT: memref.global "private" constant @__constant_2xf32_1 : memref<2xf32> = dense<[5.000000e+00, 6.000000e+00]>
// CHECK-NEXT: memref.global "private" constant @__constant_2xi32_0 : memref<2xi32> = dense<[9, 10]>
// CHECK-NEXT: memref.global "private" constant @__constant_2xf32_2 : memref<2xf32> = dense<[7.000000e+00, 8.000000e+00]>

// CHECK-LABEL: @a
// CHECK: memref.get_global @__constant_2xf32 :
// CHECK: memref.get_global @__constant_2xi32 :
func.func @a() -> (tensor<2xf32>, tensor<2xi32>) {
  %f = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = arith.constant dense<[7, 8]> : tensor<2xi32>
  return %f, %i : tensor<2xf32>, tensor<2xi32>
}

// CHECK-LABEL: @b
// CHECK: memref.get_global @__constant_2xf32_0 :
// CHECK: memref.get_global @__constant_2xf32 :
func.func @b() -> (tensor<2xf32>, tensor<2xf32>) {
  %f = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %g = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %f, %g : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @c
// CHECK: memref.get_global @__constant_2xf32_1 :
func.func @c() -> tensor<2xf32> {
  %f = arith.constant dense<[5.0, 6.0]> : tensor<2xf32>
  return %f : tensor<2xf32>
}

// CHECK-LABEL: @d
// CHECK: memref.get_global @__constant_2xi32_0 :
func.func @d() -> tensor<2xi32> {
  %i = arith.constant dense<[9, 10]> : tensor<2xi32>
  return %i : tensor<2xi32>
}

// CHECK-LABEL: @e
// CHECK: memref.get_global @__constant_2xf32_2 :
func.func @e() -> tensor<2xf32> {
  %f = arith.constant dense<[7.0, 8.0]> : tensor<2xf32>
  return %f : tensor<2xf32>
}
