// RUN: %tile_opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tile-copy-strided-clones))' | FileCheck %s
// RUN: %mlir_opt_plugin %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tile-copy-strided-clones))' | FileCheck %s

// All known: 3 * 8 + 2 * 2 + 1 elements and the offset in front of them.
// CHECK-LABEL: func.func @known
// CHECK: %[[n:.*]] = arith.constant 34 : index
// CHECK: %[[m:.*]] = memref.alloc(%[[n]]) : memref<?xf32>
// CHECK: %[[c:.*]] = memref.reinterpret_cast %[[m]] to offset: [5], sizes: [4, 3], strides: [8, 2]
// CHECK: memref.copy %{{.*}}, %[[c]]
// CHECK: return %[[c]]
func.func @known(%s: memref<4x3xf32, strided<[8, 2], offset: 5>>) -> memref<4x3xf32, strided<[8, 2], offset: 5>> {
  %c = bufferization.clone %s : memref<4x3xf32, strided<[8, 2], offset: 5>> to memref<4x3xf32, strided<[8, 2], offset: 5>>
  return %c : memref<4x3xf32, strided<[8, 2], offset: 5>>
}

// -----

// What the type leaves open comes from the source; the offset is 0.
// CHECK-LABEL: func.func @open
// CHECK: %{{.*}}, %{{.*}}, %[[sizes:.*]]:2, %[[strides:.*]]:2 = memref.extract_strided_metadata
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [%[[sizes]]#0, 3], strides: [%[[strides]]#0, 1]
func.func @open(%s: memref<?x3xf32, strided<[?, 1], offset: ?>>) -> memref<?x3xf32, strided<[?, 1], offset: ?>> {
  %c = bufferization.clone %s : memref<?x3xf32, strided<[?, 1], offset: ?>> to memref<?x3xf32, strided<[?, 1], offset: ?>>
  return %c : memref<?x3xf32, strided<[?, 1], offset: ?>>
}

// -----

// A contiguous one is upstream's.
// CHECK-LABEL: func.func @contiguous
// CHECK: bufferization.clone
// CHECK-NOT: memref.alloc
func.func @contiguous(%s: memref<4x3xf32>) -> memref<4x3xf32> {
  %c = bufferization.clone %s : memref<4x3xf32> to memref<4x3xf32>
  return %c : memref<4x3xf32>
}

// -----

func.func @no_strides(%s: memref<8xf32, affine_map<(i) -> (i mod 4)>>) -> memref<8xf32, affine_map<(i) -> (i mod 4)>> {
  // expected-error@+1 {{clones a buffer whose layout is not a list of strides}}
  %c = bufferization.clone %s : memref<8xf32, affine_map<(i) -> (i mod 4)>> to memref<8xf32, affine_map<(i) -> (i mod 4)>>
  return %c : memref<8xf32, affine_map<(i) -> (i mod 4)>>
}
